import { fitWords } from '../base/outgoing.js'
import { PlainError, UsageError } from '../errors.js'
import type { Gap, StateSummary } from '../model/state.js'
import { askControl } from '../ops/control.js'
import { peek } from '../state/open.js'
import { besideDaemon } from './besideDaemon.js'
import { type Command, type CommandArgs, configOption, exitCodes, type Io } from './command.js'
import { openStateSettings } from './open.js'

export const gaps: Command = {
	name: 'gaps',
	summary: 'blocks that no endpoint gives, and what you say of them',
	help: `Usage: tracewatch gaps [list] [--json] [--network NAME] [-c FILE]
       tracewatch gaps accept|retry (BLOCK... | --all) [--network NAME] [-c FILE]

list    the blocks that no source of any endpoint gives, since when, and why; what happened in them was not sent
accept  takes it that these blocks stay unread: they make the daemon unwell no more. Receivers, log and history are told
        so, \`status\` goes on naming them, and they are asked for now and then: should one be read, what happened in it
        is sent late
retry   has them asked for at the next poll, when an endpoint was mended

Works beside a running daemon; without one, \`retry\` and what \`accept\` tells wait for its start.

  --all               accept, retry: every gap that the filter lets through
  --network NAME      those of one network
  --json              list: one JSON object a line
  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 done, 1 a block is no gap or the state cannot be used, 2 wrong usage, 78 the configuration is wrong.`,
	options: {
		...configOption,
		all: { type: 'boolean' },
		json: { type: 'boolean' },
		network: { type: 'string' },
	},
	positionals: [0, 1_001],
	async run(args, io) {
		const [act = 'list', ...blocks] = args.positionals
		if (act !== 'list' && act !== 'accept' && act !== 'retry') {
			throw new UsageError(`\`gaps\` takes list, accept or retry, not \`${act}\``)
		}
		const settings = await openStateSettings(args, io)
		const { network } = args.values
		if (typeof network === 'string' && !settings.networks.includes(network)) {
			throw new UsageError(`there is no network \`${network}\`; there are ${settings.networks.join(', ')}`)
		}
		const found = gapsIn((await peek(settings.statePlace, Date.now))?.summary ?? null).filter(
			(one) => network === undefined || one.network === network,
		)
		if (act === 'list') {
			if (blocks.length > 0) throw new UsageError('`gaps list` takes no blocks; --network chooses')
			list(found, args, io)
			return exitCodes.done
		}
		const chosen = choose(found, blocks, args.values.all === true)
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

interface Found {
	readonly network: string
	readonly gap: Gap
}

function gapsIn(summary: StateSummary | null): readonly Found[] {
	return [...(summary?.networks ?? [])].flatMap(([network, { gaps }]) => gaps.map((gap) => ({ network, gap })))
}

function choose(found: readonly Found[], blocks: readonly string[], all: boolean): readonly Found[] {
	if (all === blocks.length > 0) throw new UsageError('name blocks, or say --all; `gaps list` shows them')
	if (all) return found
	return [...new Set(blocks)].map((block) => {
		if (!/^\d{1,20}$/.test(block)) throw new UsageError(`\`${block}\` is no number of a block`)
		const [one, another] = found.filter(({ gap }) => gap.block.number === BigInt(block))
		if (one === undefined) throw new PlainError(`block ${block} is no gap; \`gaps list\` shows those that are`)
		if (another !== undefined) {
			throw new UsageError(`block ${block} is a gap of ${one.network} and of ${another.network}; say --network`)
		}
		return one
	})
}

function byNetwork(chosen: readonly Found[]): ReadonlyMap<string, readonly bigint[]> {
	const numbers = new Map<string, bigint[]>()
	for (const { network, gap } of chosen) numbers.set(network, [...(numbers.get(network) ?? []), gap.block.number])
	return numbers
}

function list(found: readonly Found[], { values: { json } }: CommandArgs, io: Io): void {
	if (json !== true && found.length === 0) io.out('every block up to the checkpoint was read')
	for (const { network, gap } of found) {
		const { block, sinceMs, acceptedAtMs, tries, reason, addresses } = gap
		const acceptedAt = acceptedAtMs === undefined ? null : iso(acceptedAtMs)
		if (json === true) {
			const facts = { network, block: Number(block.number), hash: block.hash, since: iso(sinceMs), tries, acceptedAt }
			io.out(JSON.stringify({ ...facts, addresses, reason }))
			continue
		}
		const state = acceptedAt === null ? 'open' : `accepted as not covered ${acceptedAt}`
		io.out(fitWords(`${network} ${block.number}  ${state}, cannot be read since ${iso(sinceMs)}`))
		io.out(fitWords(`  ${reason}`))
	}
}

function iso(ms: number): string {
	return new Date(ms).toISOString()
}
