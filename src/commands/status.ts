import { existsSync } from 'node:fs'
import { counted } from '../base/text/counted.js'
import { iso } from '../base/utc.js'
import { booksInWords, notProvedInWords } from '../core/ledger/booksInWords.js'
import { networkLine } from '../core/networkLine.js'
import { knownNames, receiverCounts } from '../core/outbox/receiverCounts.js'
import { refusalsInWords, unconfiguredInWords } from '../core/outbox/refusals.js'
import { PlainError } from '../errors.js'
import type { NetworkSummary, StatePlace, StateSummary } from '../model/state.js'
import { askHealth, type ControlHealth, controlPath } from '../ops/controlSocket.js'
import { summarize } from '../state/document.js'
import { type Peek, peek } from '../state/open.js'
import { type Command, configOption, exitCodes, paragraphs } from './command.js'
import { openStateSettings } from './shared/openConfig.js'

export const status: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Prints how far each network is scanned and what is pending, held, parked, dead and delivered
for each receiver, and whether a daemon runs and is well. Reads the state and asks the daemon: it works beside a
running one, and asks no node. With a database it reads the state alone: /healthz says more. Ends with 1 when the daemon
is not well or was killed, nothing was scanned for 15 minutes, or a receiver refuses messages or has dead ones.`),
			)
			.option('--json', 'one JSON object')
			.option(...configOption),
	async run(args, io) {
		const { statePlace, networks, receivers, nameOf } = await openStateSettings(args, io)
		const found = await peek(statePlace)
		const summary = found && summarize(found.whole, nameOf)
		const nowMs = Date.now()
		const { heads, ...asked } = await daemonOf(statePlace, summary, { receivers, nowMs, found })
		const known: KnownHeads = { heads, isPolled: asked.daemon?.running === true || found?.isHeld === true, nowMs }
		const report = { ...asked, ...reportOf(summary, networks, receivers, known) }
		if (args.values.json === true) io.out(JSON.stringify(report, null, 2))
		else for (const line of linesOf(report, heads !== undefined)) io.out(line)
		return report.daemon?.ok === false ? exitCodes.failed : exitCodes.done
	},
}

/** After this time without a scanned block, a stopped daemon is reported as a fault. */
const longMs = 15 * 60_000
/** Where no daemon polls, a head that was read longer ago is unknown. */
const headMs = 60_000

interface KnownHeads {
	/** What a daemon says of heads that are not as in the state. */
	readonly heads: ControlHealth['heads']
	/** Whether a daemon polls. */
	readonly isPolled: boolean
	readonly nowMs: number
}

interface Asked {
	/** Absent beside an instance that has the database, perhaps on another machine: it is not asked. */
	readonly daemon?: DaemonLine
	readonly heads?: ControlHealth['heads']
}

/** Without a daemon that answers, what is refused or dead makes the whole not well too. */
async function daemonOf(
	place: StatePlace,
	summary: StateSummary | null,
	{ receivers, nowMs, found }: { receivers: readonly string[]; nowMs: number; found: Peek | null },
): Promise<Asked> {
	const isFolder = place.kind === 'folder'
	const answered = isFolder ? await askHealth(place.dir).then(asAsked, unwell) : null
	if (answered !== null) return answered
	const lastMs = Math.max(0, ...[...(summary?.networks.values() ?? [])].map(({ updatedAtMs }) => updatedAtMs))
	const isLong = lastMs > 0 && nowMs - lastMs > longMs
	// The daemon removes its socket when it ends, or gives its lease back; what is left shows that it was killed.
	const wasKilled = isFolder ? existsSync(controlPath(place.dir)) : found?.wasKilled === true
	const runs = isFolder || found?.isHeld === false ? false : null
	const reasons: string[] = []
	if (!isFolder && found === null)
		reasons.push('the database holds no state of this name: nothing was scanned with it yet, or it was dropped')
	if (!isFolder && isLong && runs === false)
		reasons.push('nothing was scanned for 15 minutes: no daemon runs, or it cannot write to the database')
	else if (runs === false) reasons.push(wasKilled ? 'no daemon runs: it was killed' : 'no daemon runs')
	// Beside a database no daemon is asked: the stalls that it has reported are in the state.
	const stalls = isFolder ? [] : stallsInWords(found)
	reasons.push(...stalls)
	const named = receivers.map((name) => ({ name, fallback: null }))
	const refusals = summary === null ? [] : refusalsInWords(summary, named)
	reasons.push(...refusals)
	// Where the settings cannot be read, no receiver is known.
	if (summary !== null && receivers.length > 0) reasons.push(...unconfiguredInWords(summary, receivers))
	if (reasons.length === 0) return {}
	const ok = refusals.length === 0 && stalls.length === 0 && !wasKilled && !isLong
	const line = { running: runs, ok, reason: reasons.join('; ') }
	return { daemon: refusals.length + stalls.length === 0 ? line : { ...line, reasons } }
}

function stallsInWords(found: Peek | null): readonly string[] {
	return (found?.whole.troubles.open ?? []).flatMap((trouble) => {
		if (trouble.kind !== 'stalled') return []
		const { network, sinceMs } = trouble
		return [`no block of ${network} was scanned since ${iso(sinceMs)}: the log and /healthz of the daemon say why`]
	})
}

function asAsked(health: ControlHealth | null): Asked | null {
	if (health === null) return null
	const { heads = [], ...rest } = health
	return { daemon: { running: true, ...rest }, heads }
}

/** The state is printed all the same. */
function unwell(error: unknown): Asked {
	if (!(error instanceof PlainError)) throw error
	return { daemon: { running: true, ok: false, reason: error.message } }
}

/** As in the answer of a running daemon; `running` is null where it is unknown, beside a database. */
type DaemonLine = Pick<ControlHealth, 'ok' | 'reason' | 'reasons' | 'failing' | 'failures'> & {
	readonly running: boolean | null
}

interface Report extends ReturnType<typeof reportOf> {
	/** Absent when unknown. */
	readonly daemon?: DaemonLine
}

/** Of every configured network and receiver, and of networks and receivers that only the state knows. */
function reportOf(
	summary: StateSummary | null,
	networks: readonly string[],
	receivers: readonly string[],
	known: KnownHeads,
) {
	return {
		networks: knownNames(networks, summary?.networks).map((name) =>
			reportOfNetwork(name, summary?.networks.get(name), known),
		),
		receivers: knownNames(receivers, summary?.receivers).map((name) => ({
			receiver: name,
			configured: receivers.length === 0 || receivers.includes(name),
			...receiverCounts(summary?.receivers.get(name), 0),
		})),
	}
}

type NetworkLine = ReturnType<typeof reportOfNetwork>
type ReceiverLine = ReturnType<typeof reportOf>['receivers'][number]

/** Null stands for what is not known. `checkpoint` is null before the first poll, `books` where none are kept. */
function reportOfNetwork(
	network: string,
	state: NetworkSummary | undefined,
	{ heads = [], isPolled, nowMs }: KnownHeads,
) {
	const seen = heads.find((each) => each.network === network)
	const isOld = !isPolled && state !== undefined && nowMs - state.updatedAtMs > headMs
	// A checkpoint stands here only together with its hash, which is in the state.
	const health = seen && { ...seen, checkpoint: null }
	const { checkpoint, ...reached } = networkLine(state, health, isOld ? iso(state.updatedAtMs) : null)
	return {
		network,
		chainId: state?.chainId ?? null,
		checkpoint,
		checkpointHash: state?.checkpoint.hash ?? null,
		settled: state === undefined ? null : Number(state.settled.number),
		...reached,
		lastScanAt: state === undefined ? null : iso(state.updatedAtMs),
		lastScanSecondsAgo: state === undefined ? null : Math.max(0, Math.round((nowMs - state.updatedAtMs) / 1000)),
		gaps: (state?.gaps ?? []).map(({ block, sinceMs, reason, acceptedAtMs }) => ({
			fromBlock: Number(block.number),
			toBlock: Number(block.number),
			since: iso(sinceMs),
			reason,
			acceptedAt: acceptedAtMs === undefined ? null : iso(acceptedAtMs),
		})),
		backfills: (state?.backfills ?? []).map(({ span, addresses }) => ({
			from: Number(span.from),
			to: Number(span.to),
			addresses: addresses.length,
		})),
	}
}

/** Each reason has a line of its own, so that the second one is not overlooked. */
function* daemonInWords(daemon: DaemonLine, receivers: readonly ReceiverLine[]): Generator<string> {
	const { running, ok, reason, reasons = [], failing = [], failures = failing } = daemon
	const unreached = receivers.flatMap((one) => (one.configured && one.failedAttempts > 1 ? one.receiver : []))
	const faults = [
		...(failing.length === 0 ? [] : [`polling fails: ${failures.join('; ')}`]),
		...(unreached.length === 0 ? [] : [`at present no message reaches ${unreached.join(', ')}`]),
	]
	const well = faults.length === 0 ? 'the daemon runs and is well' : `the daemon runs; ${faults.join('; ')}`
	if (ok && !running) yield `${reason}`
	else if (ok) yield reason === null ? well : `${well}; ${reason}`
	else if (reasons.length < 2) yield `NOT WELL: ${reason}`
	else {
		yield 'NOT WELL:'
		for (const each of reasons) yield `  - ${each}`
	}
}

/** Empty where the distance to the head is shown instead. */
function headInWords({ head, headUnknownSince, lagBlocks }: NetworkLine): string {
	if (headUnknownSince !== null) return `; the head is unknown since ${headUnknownSince}`
	return head === null || lagBlocks !== null ? '' : `; the head is behind the checkpoint, at block ${head}`
}

/** `isAsked`: the daemon has answered. */
function* linesOf({ daemon, networks, receivers }: Report, isAsked: boolean): Generator<string> {
	if (daemon !== undefined) yield* daemonInWords(daemon, receivers)
	for (const line of networks) {
		if (line.checkpoint === null) {
			yield `${line.network}: not polled yet${headInWords(line)}`
			continue
		}
		const lag = line.lagBlocks === null ? '' : `, ${line.lagBlocks} behind the head`
		const source = line.source === null ? '' : `; read by ${line.source}`
		const isPolled = isAsked && daemon?.failing?.includes(line.network) !== true
		const isNow = line.lagBlocks === null || isPolled
		const ago = `${line.lastScanSecondsAgo} s ago${isNow ? headInWords(line) : ' (and the head as of then)'}`
		yield `${line.network}: scanned to block ${line.checkpoint}${lag}, ${ago}; settled to ${line.settled}${source}`
		for (const { fromBlock, since, reason, acceptedAt } of line.gaps) {
			const accepted = acceptedAt === null ? '' : `, accepted as not covered ${acceptedAt}`
			yield `  GAP: block ${fromBlock} cannot be read since ${since}${accepted}: ${reason}`
		}
		yield `  books: ${booksInWords(line.books ?? undefined)}`
		for (const words of notProvedInWords(line.books, line.logs)) yield `  ${words}`
		for (const { from, to, addresses } of line.backfills) {
			yield `  still to scan for ${counted(addresses, 'address', 'addresses')}: blocks ${from} to ${to}`
		}
	}
	for (const line of receivers) {
		const { receiver, pending, aside, failedAttempts, held, parked, dead, delivered, lastDeliveredAt } = line
		const last = lastDeliveredAt === null ? '' : `, last at ${lastDeliveredAt}`
		const own = aside === 0 ? '' : ` (${aside} retried separately)`
		const kept = held === 0 ? '' : `${held} held, `
		const failed =
			failedAttempts > 1 ? ` (IT FAILS: the first was tried ${failedAttempts} times)` : ' (an attempt failed)'
		const fails = !line.configured ? ' (not configured)' : failedAttempts > 0 ? failed : ''
		const waits = `${pending} pending${fails}${own}`
		yield `${receiver}: ${waits}, ${kept}${parked} parked, ${dead} dead, ${delivered} delivered${last}`
	}
}
