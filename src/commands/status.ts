import { existsSync } from 'node:fs'
import { booksInWords, unprovedInWords } from '../core/booksInWords.js'
import { unprovedLogsInWords } from '../core/unprovedLogs.js'
import type { BooksSummary } from '../model/books.js'
import type { Gap, StatePlace, StateSummary } from '../model/state.js'
import type { UnprovedLogs } from '../model/token.js'
import type { Backfill } from '../model/watch.js'
import { askHealth, controlPath } from '../ops/control.js'
import type { Peek } from '../state/file/peek.js'
import { peek } from '../state/open.js'
import { type Command, configOption, exitCodes } from './command.js'
import { openStateSettings } from './open.js'

export const status: Command = {
	name: 'status',
	summary: 'checkpoints, lag and deliveries, from the state; works beside a running daemon',
	help: `Usage: tracewatch status [--json] [-c FILE]

Prints how far each network is scanned and what is pending, held, parked, dead and delivered for each receiver, and
whether a daemon runs and is well. Reads the state and asks the daemon: it works beside a running one, and asks no node.

  --json              one JSON object
  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 done, 1 the state cannot be read, the daemon is not well or was killed, or nothing was scanned for 15
minutes, 78 the configuration is wrong.`,
	options: { ...configOption, json: { type: 'boolean' } },
	positionals: [0, 0],
	async run(args, io) {
		const { statePlace, networks, receivers } = await openStateSettings(args, io)
		const found = await peek(statePlace, Date.now)
		const summary = found?.summary ?? null
		const nowMs = Date.now()
		const daemon = await daemonOf(statePlace, found, nowMs)
		const report = { ...(daemon === null ? {} : { daemon }), ...reportOf(summary, networks, receivers, nowMs) }
		if (args.values.json === true) io.out(JSON.stringify(report, null, 2))
		else for (const line of linesOf(report)) io.out(line)
		return daemon?.ok === false ? exitCodes.failed : exitCodes.done
	},
}

/** Where nothing was scanned for so long, a stopped daemon is no accident of the moment. */
const longMs = 15 * 60_000

/** Null where it cannot be known: instances that share a database may run on any machine. */
async function daemonOf(place: StatePlace, found: Peek | null, nowMs: number): Promise<DaemonLine | null> {
	const lastMs = Math.max(0, ...[...(found?.summary.networks.values() ?? [])].map(({ updatedAtMs }) => updatedAtMs))
	const isLong = lastMs > 0 && nowMs - lastMs > longMs
	if (place.kind !== 'folder') {
		// Whoever cannot reach its node gives the right to poll back, and runs on.
		const reason = 'nothing was scanned for 15 minutes, and nobody polls: no daemon runs, or none reaches its node'
		return isLong && found?.isPolled === false ? { running: null, ok: false, reason } : null
	}
	const health = await askHealth(place.dir)
	if (health !== null) return { running: true, ...health }
	// It takes its socket along when it ends; a leftover tells of a kill.
	const wasKilled = existsSync(controlPath(place.dir))
	const reason = wasKilled ? 'no daemon runs: it was killed' : 'no daemon runs'
	return { running: false, ok: !wasKilled && !isLong, reason }
}

interface DaemonLine {
	/** Null where several instances may run, and none polls. */
	readonly running: boolean | null
	readonly ok: boolean
	/** In a sentence; null while it runs and all is well. */
	readonly reason: string | null
	/** The same, one by one, where there are several. */
	readonly reasons?: readonly string[]
}

interface Report {
	/** Absent where it cannot be known. */
	readonly daemon?: DaemonLine
	readonly networks: readonly NetworkLine[]
	readonly receivers: readonly ReceiverLine[]
}

interface NetworkLine {
	readonly network: string
	readonly chainId: number | null
	/** Null before the first poll. */
	readonly checkpoint: number | null
	readonly checkpointHash: string | null
	readonly settled: number | null
	/** Newest block at the last poll that wrote something, and how far the checkpoint was behind it. */
	readonly head: number | null
	readonly lagBlocks: number | null
	/** Where the last traces came from; null before the first. */
	readonly source: string | null
	/** How far balances are explained; null where no books are kept. */
	readonly books: BooksSummary | null
	/** Blocks whose token logs nothing proves to be all; null: none. */
	readonly logs: UnprovedLogs | null
	readonly lastScanAt: string | null
	readonly lastScanSecondsAgo: number | null
	/** Blocks that no source of any endpoint gives: passed over, asked for again. */
	readonly gaps: readonly {
		readonly fromBlock: number
		readonly toBlock: number
		readonly since: string
		readonly reason: string
		/** Null: nobody has accepted that it may stay unread. */
		readonly acceptedAt: string | null
	}[]
	readonly backfills: readonly { readonly from: number; readonly to: number; readonly addresses: number }[]
}

interface ReceiverLine {
	readonly receiver: string
	readonly pending: number
	/** Of the pending ones, those at which the receiver fails while it takes others: they are tried by themselves. */
	readonly aside: number
	/** Kept back by digests and silences. */
	readonly held: number
	readonly parked: number
	readonly dead: number
	readonly delivered: number
	readonly lastDeliveredAt: string | null
}

/**
 * What the state says of everything configured, and of what it still holds for things that are not configured any more.
 */
function reportOf(
	summary: StateSummary | null,
	networks: readonly string[],
	receivers: readonly string[],
	nowMs: number,
): Omit<Report, 'daemon'> {
	const known = summary?.networks ?? new Map()
	const waiting = summary?.receivers ?? new Map()
	return {
		networks: [...new Set([...networks, ...known.keys()])].map((network) => {
			const state = summary?.networks.get(network)
			return {
				network,
				chainId: state?.chainId ?? null,
				checkpoint: state === undefined ? null : Number(state.checkpoint.number),
				checkpointHash: state?.checkpoint.hash ?? null,
				settled: state === undefined ? null : Number(state.settled.number),
				head: state?.seen?.head ?? null,
				lagBlocks: state?.seen === undefined ? null : Math.max(0, state.seen.head - Number(state.checkpoint.number)),
				source: state?.seen?.source ?? null,
				books: state?.seen?.books ?? null,
				logs: state?.seen?.logs ?? null,
				lastScanAt: state === undefined ? null : new Date(state.updatedAtMs).toISOString(),
				lastScanSecondsAgo: state === undefined ? null : Math.max(0, Math.round((nowMs - state.updatedAtMs) / 1000)),
				gaps: (state?.gaps ?? []).map(gapLine),
				backfills: (state?.backfills ?? []).map(({ span, addresses }: Backfill) => ({
					from: Number(span.from),
					to: Number(span.to),
					addresses: addresses.length,
				})),
			}
		}),
		receivers: [...new Set([...receivers, ...waiting.keys()])].map((receiver) => {
			const found = summary?.receivers.get(receiver)
			return {
				receiver,
				pending: found?.pending ?? 0,
				aside: found?.aside ?? 0,
				held: found?.held ?? 0,
				parked: found?.parked ?? 0,
				dead: found?.dead ?? 0,
				delivered: found?.delivered ?? 0,
				lastDeliveredAt:
					found === undefined || found.lastDeliveredAtMs === null
						? null
						: new Date(found.lastDeliveredAtMs).toISOString(),
			}
		}),
	}
}

function gapLine({ block, sinceMs, reason, acceptedAtMs }: Gap): NetworkLine['gaps'][number] {
	const number = Number(block.number)
	const acceptedAt = acceptedAtMs === undefined ? null : new Date(acceptedAtMs).toISOString()
	return { fromBlock: number, toBlock: number, since: new Date(sinceMs).toISOString(), reason, acceptedAt }
}

/** At night nobody finds the second trouble in a paragraph: each has a line. */
function* daemonInWords({ running, ok, reason, reasons = [] }: DaemonLine): Generator<string> {
	if (ok) yield running ? 'the daemon runs and is well' : `${reason}`
	else if (reasons.length < 2) yield `NOT WELL: ${reason}`
	else {
		yield 'NOT WELL:'
		for (const each of reasons) yield `  - ${each}`
	}
}

function* linesOf({ daemon, networks, receivers }: Report): Generator<string> {
	if (daemon !== undefined) yield* daemonInWords(daemon)
	for (const line of networks) {
		if (line.checkpoint === null) {
			yield `${line.network}: not polled yet`
			continue
		}
		const lag = line.lagBlocks === null ? '' : `, ${line.lagBlocks} behind the head`
		const source = line.source === null ? '' : `; read by ${line.source}`
		const stale = daemon?.ok === true && daemon.running === true ? '' : ' (and the head as of then)'
		const ago = `${line.lastScanSecondsAgo} s ago${stale}`
		yield `${line.network}: scanned to block ${line.checkpoint}${lag}, ${ago}; settled to ${line.settled}${source}`
		for (const { fromBlock, since, reason, acceptedAt } of line.gaps) {
			const accepted = acceptedAt === null ? '' : `, accepted as not covered ${acceptedAt}`
			yield `  GAP: block ${fromBlock} cannot be read since ${since}${accepted}: ${reason}`
		}
		yield `  books: ${booksInWords(line.books ?? undefined)}`
		for (const words of line.books === null ? [] : unprovedInWords(line.books)) yield `  books ${words}`
		for (const words of line.logs === null ? [] : unprovedLogsInWords(line.logs)) yield `  tokens ${words}`
		for (const { from, to, addresses } of line.backfills) {
			yield `  still to scan for ${addresses} ${addresses === 1 ? 'address' : 'addresses'}: blocks ${from} to ${to}`
		}
	}
	for (const { receiver, pending, aside, held, parked, dead, delivered, lastDeliveredAt } of receivers) {
		const last = lastDeliveredAt === null ? '' : `, last at ${lastDeliveredAt}`
		const own = aside === 0 ? '' : ` (${aside} tried alone: it takes others)`
		const kept = held === 0 ? '' : `${held} held, `
		yield `${receiver}: ${pending} pending${own}, ${kept}${parked} parked, ${dead} dead, ${delivered} delivered${last}`
	}
}
