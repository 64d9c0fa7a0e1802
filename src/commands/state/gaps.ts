import { Argument } from 'commander'
import { fitWords } from '../../base/text/outgoing.js'
import { PlainError, UsageError } from '../../errors.js'
import type { Gap, NetworkSummary, StatePlace } from '../../model/state.js'
import type { StuckLook } from '../../model/trouble.js'
import { askControl, askHealth } from '../../ops/controlSocket.js'
import { peek } from '../../state/open.js'
import { type Command, type CommandArgs, configOption, exitCodes, type Io, paragraphs } from '../command.js'
import { openStateSettings } from '../shared/openConfig.js'
import { besideDaemon } from './besideDaemon.js'

type Act = 'list' | 'accept' | 'retry'

export const gaps: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`\`list\` shows the blocks that no source of any endpoint gives, since when, and why; their
events were not sent. Also what the running daemon could not read a second time, and what backfills have not read yet.

\`accept\` accepts that these blocks stay unread: /healthz no longer fails because of them. Receivers, log and history
say so. \`status\` still names them, and they are asked for at least once an hour: if one is read, its events are sent
late.

\`retry\` asks for them again at the next poll, for example after an endpoint was repaired.

Works beside a running daemon; without one, \`retry\` and the messages of \`accept\` wait for its start.`),
			)
			.addArgument(new Argument('[act]').choices(['list', 'accept', 'retry']).default('list'))
			.argument('[blocks...]', 'accept, retry: the numbers that `list` shows')
			.option('--all', 'accept, retry: every gap that the filter lets through')
			.option('--network <name>', 'those of one network')
			.option(
				'--json',
				'list: one JSON object a line; second looks and backfills that are stuck have `look`, no `block`',
			)
			.option(...configOption)
			.addHelpText(
				'after',
				'\nExit codes: 0 done, 1 a block is no gap or the state cannot be used, 2 wrong usage,\n' +
					'78 the configuration is wrong.',
			),
	async run(args, io) {
		const [act = 'list', ...blocks] = args.positionals as readonly [Act?, ...string[]]
		const settings = await openStateSettings(args, io)
		const { network } = args.values
		if (typeof network === 'string' && !settings.networks.includes(network)) {
			throw new UsageError(`there is no network \`${network}\`; there are ${settings.networks.join(', ')}`)
		}
		const networks = [...((await peek(settings.statePlace, Date.now))?.summary.networks ?? [])].filter(
			([name]) => network === undefined || name === network,
		)
		const found = networks.flatMap(([name, { gaps }]) => gaps.map((gap) => ({ network: name, gap })))
		if (act === 'list') {
			if (blocks.length > 0) throw new UsageError('`gaps list` takes no blocks; --network chooses')
			list(found, args, io)
			const stuck = await stuckIn(settings.statePlace, networks)
			if (args.values.json === true) for (const one of stuck) io.out(JSON.stringify(one))
			else for (const line of linesOf(stuck, networks, found.length > 0)) io.out(line)
			return exitCodes.done
		}
		const chosen = choose(found, blocks, args.values.all === true, networks)
		let count = 0
		for (const [name, numbers] of byNetwork(chosen)) {
			count += await besideDaemon(
				settings,
				(dir) => askControl(dir, { act: `${act}-gaps`, network: name, blocks: numbers.map(String) }),
				(store) => store.markGaps(name, numbers, { act, atMs: Date.now() }),
			)
		}
		const blocksInWords = `${count} ${count === 1 ? 'block' : 'blocks'}`
		if (act === 'retry') io.out(`${blocksInWords} will be asked for at the next poll`)
		else io.out(`${blocksInWords} accepted as not covered: what happened there was not sent`)
		return count === chosen.length ? exitCodes.done : exitCodes.failed
	},
}

type Networks = readonly [name: string, summary: NetworkSummary]

interface Found {
	readonly network: string
	readonly gap: Gap
}

function choose(
	found: readonly Found[],
	blocks: readonly string[],
	all: boolean,
	networks: readonly Networks[],
): readonly Found[] {
	if (all === blocks.length > 0) throw new UsageError('name blocks, or say --all; `gaps list` shows them')
	if (all) return found
	return [...new Set(blocks)].map((block) => {
		if (!/^\d{1,20}$/.test(block)) throw new UsageError(`\`${block}\` is no number of a block`)
		const [one, another] = found.filter(({ gap }) => gap.block.number === BigInt(block))
		if (one === undefined) throw noGap(BigInt(block), networks)
		if (another !== undefined) {
			throw new UsageError(`block ${block} is a gap of ${one.network} and of ${another.network}; say --network`)
		}
		return one
	})
}

function noGap(block: bigint, networks: readonly Networks[]): PlainError {
	const isUnread = networks.some(
		([, { checkpoint, backfills }]) =>
			block > checkpoint.number || backfills.some(({ span }) => span.from <= block && block <= span.to),
	)
	const why = isUnread
		? 'it was not read yet; it becomes a gap when no source of any endpoint gives it'
		: '`gaps list` shows those that are'
	return new PlainError(`block ${block} is no gap; ${why}`)
}

function byNetwork(chosen: readonly Found[]): ReadonlyMap<string, readonly bigint[]> {
	const numbers = new Map<string, bigint[]>()
	for (const { network, gap } of chosen) numbers.set(network, [...(numbers.get(network) ?? []), gap.block.number])
	return numbers
}

function list(found: readonly Found[], { values: { json } }: CommandArgs, io: Io): void {
	for (const { network, gap } of found) {
		const { block, sinceMs, acceptedAtMs, tries, reason, addresses, transactions } = gap
		const acceptedAt = acceptedAtMs === undefined ? null : iso(acceptedAtMs)
		if (json === true) {
			const facts = { network, block: Number(block.number), hash: block.hash, since: iso(sinceMs), tries, acceptedAt }
			io.out(JSON.stringify({ ...facts, addresses, ...(transactions && { transactions }), reason }))
			continue
		}
		const state = acceptedAt === null ? 'open' : `accepted as not covered ${acceptedAt}`
		io.out(fitWords(`${network} ${block.number}  ${state}, cannot be read since ${iso(sinceMs)}`))
		io.out(fitWords(`  ${reason}`))
	}
}

/** Lines for the blocks that backfills still have to read; these are no gaps. */
function* unreadIn(networks: readonly Networks[], hasGaps: boolean): Generator<string> {
	const all = networks.flatMap(([network, { backfills }]) => backfills.map((backfill) => ({ network, ...backfill })))
	for (const { network, span, addresses } of all) {
		const whom = addresses.length === 1 ? '1 address' : `${addresses.length} addresses`
		yield `${network} ${span.from} to ${span.to}  not read yet for ${whom} (\`from_block\`)`
	}
	if (!hasGaps) yield all.length === 0 ? everyBlock : `${everyBlock}, but for these`
}

/** What the running daemon is stuck at, beside the gaps. */
async function stuckIn(place: StatePlace, networks: readonly Networks[]): Promise<readonly StuckLook[]> {
	const health = place.kind === 'folder' ? await askHealth(place.dir) : null
	return (health?.stuck ?? []).filter(({ network }) => networks.some(([name]) => name === network))
}

function* linesOf(stuck: readonly StuckLook[], networks: readonly Networks[], hasGaps: boolean): Generator<string> {
	for (const { reason } of stuck) yield reason
	yield* unreadIn(networks, hasGaps)
}

const everyBlock = 'every block up to the checkpoint was read'

function iso(ms: number): string {
	return new Date(ms).toISOString()
}
