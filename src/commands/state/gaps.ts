import { Argument } from 'commander'
import { counted } from '../../base/text/counted.js'
import { fitWords } from '../../base/text/outgoing.js'
import { iso } from '../../base/utc.js'
import { PlainError, UsageError } from '../../errors.js'
import type { Gap, NetworkSummary } from '../../model/state.js'
import type { StuckLook } from '../../model/trouble.js'
import { askHealth } from '../../ops/controlSocket.js'
import { summarize } from '../../state/document.js'
import { peek } from '../../state/open.js'
import { type Command, configOption, exitCodes, type Io, paragraphs } from '../command.js'
import { needKnown } from '../shared/network.js'
import { openStateSettings } from '../shared/openConfig.js'
import { besideDaemon, needChoice } from './besideDaemon.js'

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
			.option(...configOption),
	async run(args, io) {
		const [act = 'list', ...blocks] = args.positionals as readonly [Act?, ...string[]]
		const { statePlace, ...settings } = await openStateSettings(args, io)
		const { network, all, json } = args.values
		const stored = await peek(statePlace)
		const networks = [...(stored === null ? [] : summarize(stored.whole).networks)].filter(
			([name]) => network === undefined || name === network,
		)
		if (networks.length === 0) needKnown('network', network, settings.networks)
		const found = networks.flatMap(([name, { gaps }]) => gaps.map((gap) => ({ network: name, gap })))
		if (act === 'list') {
			if (blocks.length > 0) throw new UsageError('`gaps list` takes no blocks; --network chooses')
			const health = statePlace.kind === 'folder' ? await askHealth(statePlace.dir).catch(unlessSilent(io)) : null
			const stuck = (health?.stuck ?? []).filter((one) => networks.some(([name]) => name === one.network))
			if (json === true) for (const one of [...found.map(factsOf), ...stuck]) io.out(JSON.stringify(one))
			else for (const line of linesOf(found, stuck, networks)) io.out(fitWords(line))
			return exitCodes.done
		}
		needChoice('blocks', blocks, all)
		const chosen = all === true ? found : [...new Set(blocks)].map((block) => gapAt(block, found))
		let count = 0
		for (const name of new Set(chosen.map((one) => one.network))) {
			const blocks = chosen.flatMap((one) => (one.network === name ? [`${one.gap.block.number}`] : []))
			const request = { act: 'mark-gaps', mark: act, network: name, blocks } as const
			count += await besideDaemon({ statePlace, ...settings }, request)
		}
		const done = {
			retry: 'will be asked for at the next poll',
			accept: 'accepted as not covered: what happened there was not sent',
		}
		io.out(`${counted(count, 'block')} ${done[act]}`)
		return count === chosen.length ? exitCodes.done : exitCodes.failed
	},
}

/** The gaps of the state are printed all the same. */
function unlessSilent(io: Pick<Io, 'err'>) {
	return (error: unknown): null => {
		if (!(error instanceof PlainError)) throw error
		io.err(`without what the daemon is stuck at: ${error.message}`)
		return null
	}
}

type Networks = readonly (readonly [name: string, summary: NetworkSummary])[]

interface Found {
	readonly network: string
	readonly gap: Gap
}

function gapAt(text: string, found: readonly Found[]): Found {
	if (!/^\d{1,20}$/.test(text)) throw new UsageError(`\`${text}\` is not a block number`)
	const block = BigInt(text)
	const [one, another] = found.filter(({ gap }) => gap.block.number === block)
	if (another !== undefined && one !== undefined)
		throw new UsageError(`block ${block} is a gap of ${one.network} and of ${another.network}; say --network`)
	if (one !== undefined) return one
	throw new PlainError(`block ${block} is not a gap: it was read, or not asked for yet; \`gaps list\` shows the gaps`)
}

function factsOf({ network, gap: { block, sinceMs, acceptedAtMs, tries, reason, addresses, transactions } }: Found) {
	const acceptedAt = acceptedAtMs === undefined ? null : iso(acceptedAtMs)
	const facts = { network, block: Number(block.number), hash: block.hash, since: iso(sinceMs), tries, acceptedAt }
	return { ...facts, addresses, ...(transactions && { transactions }), reason }
}

/** Gaps, what the running daemon is stuck at, and what backfills still have to read, which is no gap. */
function* linesOf(found: readonly Found[], stuck: readonly StuckLook[], networks: Networks): Generator<string> {
	for (const one of found) {
		const { network, block, since, acceptedAt, reason } = factsOf(one)
		const state = acceptedAt === null ? 'open' : `accepted as not covered ${acceptedAt}`
		yield `${network} ${block}  ${state}, cannot be read since ${since}`
		yield `  ${reason}`
	}
	for (const { reason } of stuck) yield reason
	const unread = networks.flatMap(([network, { backfills }]) => backfills.map((backfill) => ({ network, ...backfill })))
	for (const { network, span, addresses } of unread) {
		const whom = counted(addresses.length, 'address', 'addresses')
		yield `${network} ${span.from} to ${span.to}  not read yet for ${whom} (\`from_block\`)`
	}
	if (networks.length === 0) yield 'no block was scanned yet, so there is no gap'
	else if (found.length === 0)
		yield `every block up to the checkpoint was read${unread.length === 0 ? '' : ', but for these'}`
}
