import { csvLine } from '../../base/text/csvLine.js'
import { fitWords } from '../../base/text/outgoing.js'
import { utc } from '../../base/utc.js'
import { parseAddress } from '../../config/address.js'
import { readDuration } from '../../config/duration.js'
import { oneOf, suggestion } from '../../config/words.js'
import { alertsOf, isAbout, isHole, rowOfDelivery, rowOfHistory } from '../../core/outbox/historyEntries.js'
import { UsageError } from '../../errors.js'
import { allKinds } from '../../kinds/all.js'
import type { AlertData, Message } from '../../model/alert.js'
import type { DeliveryRow, HistoryEntry, HistoryHole, HistoryQuery } from '../../model/history.js'
import type { StatePlace } from '../../model/state.js'
import { headline } from '../../notify/text/sentence.js'
import { openHistory, peek } from '../../state/open.js'
import { type Command, type CommandArgs, configOption, exitCodes, type Io } from '../command.js'
import { bomOption, withBom } from '../shared/bom.js'
import { needKnown } from '../shared/network.js'
import { openStateSettings } from '../shared/openConfig.js'
import { beside, createStatusLine } from '../shared/progress.js'

export const history: Command = {
	name: 'history',
	summary: 'lists what was sent, to whom, when, and with which result',
	help: `Usage: tracewatch history [--address ADDRESS] [--network NAME] [--since TIME] [--kind KIND] [--token TOKEN]
                          [--receiver NAME] [--format FORMAT] [--bom] [-c FILE]

Prints every message with its result at each receiver, newest first: first those still on their way (pending, held,
parked, dead), then those delivered, dropped by hand, split (a refused digest whose alerts went on one by one), or
folded (counted in another alert as "and 212 more", since too many deliveries waited).
Works beside a running daemon. \`history\` of tracewatch.yaml says how long messages are kept (default: 90 days).

  --address ADDRESS   of one watch
  --network NAME      as in tracewatch.yaml
  --since TIME        not over by then: 24h, 7d, 2026-11-01 or 2026-11-01T10:00:00Z (UTC)
  --kind KIND         transfer, deployment, … or the end of a message's type: removed, digest, stalled, recovered, gap,
                      refused, undelivered
  --token TOKEN       of this token: its contract, or the symbol that the settings gave it then
  --receiver NAME     as in tracewatch.yaml
  --format FORMAT     table (default), json (one object a line), csv
  --bom               with csv: marks it as UTF-8, so that Excel reads umlauts in labels
  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 done, 1 the state or the history cannot be read, 2 wrong usage, 78 the configuration is wrong.`,
	options: {
		...configOption,
		address: { type: 'string' },
		network: { type: 'string' },
		since: { type: 'string' },
		kind: { type: 'string' },
		token: { type: 'string' },
		receiver: { type: 'string' },
		format: { type: 'string' },
		...bomOption,
	},
	positionals: [0, 0],
	async run(args, given) {
		const io = withBom(args, given)
		const query = queryOf(args, Date.now())
		let found = 0
		const line = createStatusLine(
			(seconds) => `looking through the history, ${Math.round(seconds)} s, ${found} found …`,
		)
		try {
			const print = printerOf(args, beside(line, io))
			const { statePlace, networks, receivers } = await openStateSettings(args, io)
			const isOfToken = tokenTestOf(args)
			for await (const row of everything(statePlace, query)) {
				if (!('hole' in row) && !isOfToken(row)) continue
				// The reader closed the pipe, or the user pressed Ctrl-C.
				if (io.signal.aborted || process.stdout.destroyed) break
				print(row)
				found++
			}
			if (found === 0) {
				needKnown('network', query.network, networks)
				needKnown('receiver', query.receiver, receivers)
			}
		} finally {
			line.end()
		}
		return exitCodes.done
	},
}

/** The pending deliveries, newest first, then the history. A delivery that ends meanwhile is yielded once. */
export async function* everything(place: StatePlace, query: HistoryQuery): AsyncIterable<DeliveryRow | HistoryHole> {
	const found = await peek(place, Date.now)
	const seen = new Set<string>()
	for (const delivery of found?.deliveries.toReversed() ?? []) {
		seen.add(delivery.id)
		if (isAbout(delivery.message, delivery.receiver, query)) yield rowOfDelivery(delivery)
	}
	const numbers = new Set<number>()
	for (const entry of found?.history.toReversed() ?? []) {
		numbers.add(entry.seq)
		if (isAsked(entry, query)) yield isHole(entry) ? entry : rowOfHistory(entry)
	}
	const reader = await openHistory(place, Date.now)
	try {
		for await (const { entry } of reader.read(query, null)) {
			if (entry === null || numbers.has(entry.seq) || !isAsked(entry, query)) continue
			if (isHole(entry)) yield entry
			else if (!seen.has(entry.id)) yield rowOfHistory(entry)
		}
	} finally {
		await reader.close()
	}
}

/** Holes always match, since the lost entries may have been about anything. */
function isAsked(entry: HistoryEntry, query: HistoryQuery): boolean {
	if (query.sinceMs !== undefined && entry.endedAtMs < query.sinceMs) return false
	return isHole(entry) || isAbout(entry.message, entry.receiver, query)
}

function queryOf({ values }: CommandArgs, nowMs: number): HistoryQuery {
	const { address, network, since, token, receiver } = values
	const kind = values.kind ?? (token === undefined ? undefined : 'token')
	return {
		...(typeof address === 'string' && { address: readAddress(address) }),
		...(typeof network === 'string' && { network }),
		...(typeof kind === 'string' && { kind: readKind(kind) }),
		...(typeof receiver === 'string' && { receiver }),
		...(typeof since === 'string' && { sinceMs: readSince(since, nowMs) }),
	}
}

/** Matches a token by its symbol only if the settings name that symbol: any contract can claim any symbol. */
function tokenTestOf({ values: { token } }: CommandArgs): (row: DeliveryRow) => boolean {
	if (typeof token !== 'string') return () => true
	const isOne = ({ token: own }: AlertData) =>
		own !== undefined && (own.address.toLowerCase() === token.toLowerCase() || (own.known && own.symbol === token))
	return ({ message }) => alertsOf(message).some(isOne)
}

type Ending<T> = T extends `${string}.${infer E}` ? E : never
const endings: readonly string[] = [
	...allKinds,
	...(['removed', 'digest', 'stalled', 'recovered', 'gap', 'refused', 'undelivered'] as const satisfies readonly Ending<
		Message['type']
	>[]),
]

function readKind(text: string): string {
	const kind = text.replace(/^(alert|system)\./, '')
	if (endings.includes(kind)) return kind
	throw new UsageError(`--kind takes ${oneOf(endings)}, not \`${text}\`${suggestion(kind, endings)}`)
}

function readAddress(text: string): string {
	try {
		return parseAddress(text)
	} catch (error) {
		throw new UsageError(`--address ${text}: ${error instanceof Error ? error.message : String(error)}`)
	}
}

function readSince(text: string, nowMs: number): number {
	if (/^\d{1,6}\s*[smhd]$/.test(text)) return nowMs - readDuration(text)
	const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text)
	const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/.test(text)
	const ms = isDate || isTime ? Date.parse(isDate || /(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`) : Number.NaN
	if (!Number.isNaN(ms)) return ms
	throw new UsageError(`--since takes 24h, 7d, 2026-11-01 or 2026-11-01T10:00:00Z, not \`${text}\``)
}

const columns = [
	...['told_at', 'ended_at', 'result', 'receiver', 'recipient', 'attempts', 'network', 'kind', 'address', 'label'],
	...['says', 'last_error', 'answer', 'id', 'delivery_id'],
] as const

function printerOf({ values: { format = 'table' } }: CommandArgs, io: Io): (row: DeliveryRow | HistoryHole) => void {
	if (format === 'json') return (row) => io.out(JSON.stringify('hole' in row ? holeOf(row) : publicOf(row)))
	if (format === 'csv') {
		const line = (cells: readonly string[]) => io.out(csvLine(cells), '\r\n')
		line(columns)
		// A line of another shape would break programs that read the output.
		return (row) => ('hole' in row ? io.err(holeInWords(row)) : line(cellsOf(row)))
	}
	if (format !== 'table') throw new UsageError(`--format takes table, json or csv, not \`${String(format)}\``)
	return (row) => {
		const lines = 'hole' in row ? [holeInWords(row)] : linesOf(row)
		for (const line of lines) io.out(fitWords(line))
	}
}

function cellsOf(row: DeliveryRow): readonly string[] {
	const { deliveryId, address, label, ...one } = publicOf(row)
	return [
		...[one.toldAt, one.endedAt ?? '', one.result, one.receiver, one.recipient ?? '', String(one.attempts)],
		...[one.network ?? '', one.kind, address ?? '', label ?? '', one.says, one.lastError ?? '', one.answer ?? ''],
		...[one.id, deliveryId],
	]
}

/** The public form of `--format json`. A field of a digest is set when all of its alerts agree on it. */
export function publicOf(row: DeliveryRow) {
	const { id: deliveryId, receiver, recipient, result, attempts, lastError, answer, message } = row
	const alerts = alertsOf(message)
	const same = (values: readonly (string | null)[]) => (new Set(values).size === 1 ? (values[0] ?? null) : null)
	const network = 'network' in message.data ? message.data.network : same(alerts.map((alert) => alert.network))
	return {
		id: message.data.id,
		deliveryId,
		type: message.type,
		kind: same(alerts.map(({ kind }) => kind)) ?? message.type.slice(message.type.indexOf('.') + 1),
		network,
		address: same(alerts.map(({ watch }) => watch.address)),
		label: same(alerts.map(({ watch }) => watch.label)),
		receiver,
		recipient,
		result,
		attempts,
		toldAt: utc(row.toldAtMs),
		endedAt: row.endedAtMs === null ? null : utc(row.endedAtMs),
		nextAttemptAt: row.nextAttemptAtMs === null ? null : utc(row.nextAttemptAtMs),
		lastError,
		answer,
		says: headline(message),
		message,
	}
}

function holeOf({ hole, endedAtMs }: HistoryHole) {
	return { result: 'hole', rows: hole.rows, from: utc(hole.fromMs), to: utc(endedAtMs) }
}

function holeInWords(row: HistoryHole): string {
	const { rows, from, to } = holeOf(row)
	const count = `${rows} ${rows === 1 ? 'row' : 'rows'}`
	return `HOLE: ${count} could not be kept, ${from} to ${to}; their messages were sent`
}

function* linesOf({ receiver, recipient, ...row }: DeliveryRow): Generator<string> {
	const to = recipient === null ? receiver : `${receiver} (${recipient})`
	yield `${utc(row.toldAtMs)}  ${row.result.padEnd(9)}  ${to}  ${headline(row.message)}`
	if (row.result === 'delivered' && row.attempts === 1) return
	const tries = `${row.attempts} ${row.attempts === 1 ? 'attempt' : 'attempts'}`
	const until = row.endedAtMs === null ? '' : ` until ${utc(row.endedAtMs)}`
	const next = row.nextAttemptAtMs === null ? '' : `, next at ${utc(row.nextAttemptAtMs)}`
	yield `  ${tries}${until}${next}${row.lastError === null ? '' : `; last failure: ${row.lastError}`}`
}
