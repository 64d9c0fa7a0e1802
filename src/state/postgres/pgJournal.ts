/**
 * The journal in PostgreSQL. One row, the head, says which instance may write, by the database's clock alone, and which
 * line is the last. Each write is one statement that moves the head: it takes effect once, in order, and only if this
 * instance still has the right to write.
 */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { StateError } from '../../errors.js'
import type { HistoryEntry } from '../../model/history.js'
import type { Log } from '../../model/ports.js'
import { emptyState, type StateDoc } from '../document.js'
import type { Behind, Journal, JournalLine, Loaded } from '../journal.js'
import { halfCopied, replayed } from '../journal.js'
import { fromJson } from '../records/codec.js'
import { snapshotFormat } from '../records/snapshot.js'
import { type Ask, type Database, isInClear, openDatabase } from './database.js'
import { writeCopyRows } from './keptRows.js'
import { columnsOf, forgetRows, insertHistory, UNNESTED } from './pgHistory.js'
import { hasTables, prepareTables } from './schema.js'

export interface PgJournalOptions {
	readonly log?: Log | undefined
	/** Default: `LEASE_MS`. */
	readonly leaseMs?: number | undefined
	/** Writes beside the instance that has the right to write: for a command of an operator. */
	readonly isBeside?: boolean
	/** As in `journalAt`. */
	readonly isCopy?: boolean
	/** Once it aborts, a database that does not answer is waited for only briefly. */
	readonly stop?: AbortSignal | undefined
	/** Name of this instance in the database; default: host name and process id. */
	readonly owner?: string
}

/** Connections: of the ledger, of the renewal, of the history that is forgotten, of the copies of watchlists. */
const CONNECTIONS = 4
/** Other instances take over after an instance has not renewed its lease for this long. */
const LEASE_MS = 30_000
/** Renewals within a lease; each of them also shows what an operator has written. */
const RENEWALS = 15
const PART_CHARS = 1 << 19
const STANDSTILL_MS = 30_000

interface Head {
	readonly owner: string
	readonly epoch: number
	readonly seq: number
	readonly snapshot: string
	readonly snapshot_seq: number
	readonly is_held: boolean
	readonly was_killed: boolean
}

function hasBegun(head: Head | undefined): boolean {
	return head !== undefined && (head.seq > 0 || head.snapshot !== '')
}

/** The last line that this instance knows, in the epoch that it writes in. */
interface Place {
	readonly epoch: number
	readonly seq: number
}

const REPLACED =
	'another instance has taken over the state while this one was paused or could not reach the database: ' +
	'nothing was written, and the other instance continues'
const PUT_BACK =
	'the database holds an older state than this instance has written, or a new one, as after a restore or a failover ' +
	'that lost writes: nothing was written. Start again to continue from what it holds (blocks since then are scanned ' +
	'again, and some alerts may come a second time under the same id)'

/** In place of the snapshot: a copy has begun here, and not ended. */
const COPY_BEGUN = 'copy'

const freshBatch = () => randomBytes(8).toString('hex')

const HEAD = `
	select owner, epoch, seq, snapshot, snapshot_seq, expires > clock_timestamp() as is_held,
		expires > '-infinity' and expires <= clock_timestamp() as was_killed
	from tracewatch.head where name = $1`
const END = (ms: string) => `clock_timestamp() + ${ms}::bigint * interval '1 ms'`
/** $4: only a state that has begun is taken; $5: what a new one has as its snapshot. */
const TAKE = `
	insert into tracewatch.head as h (name, owner, epoch, expires, seq, snapshot, snapshot_seq)
	select $1, $2, 1, ${END('$3')}, 0, $5::text, 0
	where not $4::boolean
		or exists (select from tracewatch.head where name = $1 and (seq > 0 or snapshot <> ''))
	on conflict (name) do update set
		owner = excluded.owner, epoch = h.epoch + (h.owner <> excluded.owner)::int, expires = excluded.expires,
		snapshot = case when h.seq = 0 and h.snapshot = '' then excluded.snapshot else h.snapshot end
	where h.owner = excluded.owner or h.expires < clock_timestamp()
	returning epoch`
/** $1 to $4: name, owner (null: any), epoch and the last known line. */
const IS_OURS = 'name = $1 and ($2::text is null or (owner = $2 and epoch = $3::bigint)) and seq = $4::bigint'
/** $5 to $9: batch, line, columns of the history rows. */
const LINE_AND_ROWS = `
	line as (
		insert into tracewatch.journal (name, seq, batch, line)
		select name, seq, $5, $6 from moved where $6::text is not null
	),
	kept as (
		insert into tracewatch.history (name, seq, ended_at_ms, row)
		select moved.name, entry.* from moved, ${UNNESTED('$7', '$8', '$9')}
	)`
const APPEND = `
	with moved as (update tracewatch.head set seq = seq + 1 where ${IS_OURS} returning name, seq), ${LINE_AND_ROWS}
	select seq from moved`
/**
 * The lines of the snapshot before stay, for an operator's command that loaded them. Run again, where its answer was
 * lost, it does nothing: the snapshot before would be its own.
 */
const SWITCH = `
	with old as (select snapshot, snapshot_seq from tracewatch.head where name = $1),
	moved as (
		update tracewatch.head set snapshot = $5, seq = seq + ($6::text is not null)::int,
			snapshot_seq = seq + ($6::text is not null)::int
		where ${IS_OURS} and snapshot <> $5 returning name, seq
	), ${LINE_AND_ROWS},
	lines as (delete from tracewatch.journal j using moved, old where j.name = moved.name and j.seq < old.snapshot_seq),
	parts as (delete from tracewatch.snapshot s using moved, old where s.name = moved.name and s.id = old.snapshot)
	select seq from moved`
/** Whether the line $3 or the snapshot is of the batch $2. */
const IS_DONE = `
	select owner, epoch, snapshot = $2 or exists (
		select from tracewatch.journal j where j.name = h.name and j.seq = $3 and j.batch = $2
	) as is_done
	from tracewatch.head h where name = $1`
const RENEW = `
	update tracewatch.head set expires = ${END('$4')} where name = $1 and owner = $2 and epoch = $3 returning seq`
const GIVE_BACK = `update tracewatch.head set expires = '-infinity' where name = $1 and owner = $2 and epoch = $3`
/** Parts of snapshots that were never finished; a successor's are not visible to the statement. */
const TIDY = `
	delete from tracewatch.snapshot s using tracewatch.head h
	where h.name = $1 and h.owner = $2 and h.epoch = $3 and s.name = h.name and s.id <> h.snapshot`
const FORGET_PARTS = 'delete from tracewatch.snapshot where name = $1 and id = $2'
const LINES = 'select seq, line from tracewatch.journal where name = $1 and seq > $2 order by seq limit 500'
const LAST_ROW = 'select coalesce(max(seq), 0)::int8 as last from tracewatch.history where name = $1'
const PARTS = 'select data from tracewatch.snapshot where name = $1 and id = $2 and part >= $3 order by part limit 8'
const INSERT_PART = `insert into tracewatch.snapshot (name, id, part, data) values ($1, $2, $3, $4)
	on conflict do nothing`

/** Connects to nothing yet. */
export function pgJournal(url: string, options: PgJournalOptions = {}): Journal {
	const { log, leaseMs = LEASE_MS, isBeside = false, isCopy = false } = options
	const { stop } = options
	const database = openDatabase(url, { connections: CONNECTIONS, standstillMs: STANDSTILL_MS, stop })
	const { ask, name, host } = database
	// Two instances with the same name must not share an owner.
	const owner = `${options.owner ?? `${hostname()}:${process.pid}`}#${randomBytes(6).toString('hex')}`
	const writer = isBeside ? null : owner
	let place: Place | null = null
	/** Another instance was seen to have a state here: a new one in its place would lose what it holds. */
	let isKnown = false
	let journalBytes = 0
	let lost: StateError | null = null
	let listener: Parameters<Journal['watch']>[0] | null = null
	let renewal: NodeJS.Timeout | null = null
	let renewed: Promise<unknown> = Promise.resolve()
	let stopForgetting: (() => void) | null = null
	if (isInClear(url))
		log?.warn(
			{ database: host },
			'state and password go to the machine of the database without TLS, where others can read and change them: ' +
				'write sslmode=verify-full into the URL of `state` (postgres://…?sslmode=verify-full)',
		)

	/** The epoch in which this instance writes. */
	async function take(): Promise<number> {
		if (isBeside) return 0
		const [taken] = await ask<{ epoch: number }>(TAKE, [name, owner, leaseMs, isKnown, isCopy ? COPY_BEGUN : ''])
		if (taken !== undefined) return taken.epoch
		const [head] = await ask<Head>(HEAD, [name])
		if (hasBegun(head)) isKnown = true
		else if (isKnown && head?.is_held !== true) throw gone(host)
		const who = head?.owner.replace(/#.*/, '') ?? 'unknown'
		throw new StateError('locked', `the state in the database at ${host} is in use by another instance (${who})`)
	}

	function mustHavePlace(): Place {
		if (lost !== null) throw lost
		if (place === null) throw new Error('the journal is not open')
		return place
	}

	function lose(why: string): StateError {
		lost ??= new StateError('lost', why)
		if (renewal !== null) clearInterval(renewal)
		listener?.lost(lost)
		return lost
	}

	/** Why this instance no longer has the right to write. The state that is gone may come back. */
	async function notOurs(epoch: number): Promise<StateError> {
		const [head] = await ask<Head>(HEAD, [name])
		const isBack = head?.owner === owner && head.epoch === epoch
		if (head === undefined || isBack || !hasBegun(head)) return gone(host)
		return lose(head.epoch > epoch ? REPLACED : PUT_BACK)
	}

	async function renew(epoch: number): Promise<void> {
		if (lost !== null) throw lost
		const { seq: known } = place ?? { seq: 0 }
		const asked = ask<{ seq: number }>(RENEW, [name, owner, epoch, leaseMs])
		renewed = asked.catch(() => undefined)
		const [head] = await asked
		if (head === undefined) throw await notOurs(epoch)
		if (place === null) return
		if (head.seq < known) throw lose(PUT_BACK)
		if (head.seq > mustHavePlace().seq) await listener?.behind()
	}

	/**
	 * Runs APPEND or SWITCH. Null when it took effect, perhaps at an earlier try whose answer was lost; `batch` tells it
	 * from the writes of others. A null line moves nothing: the snapshot holds no change of its own.
	 */
	async function move(statement: string, batch: string, line: string | null, rows: readonly HistoryEntry[]) {
		const { epoch, seq } = mustHavePlace()
		const moved = await ask(statement, [name, writer, epoch, seq, batch, line, ...columnsOf(rows)])
		if (moved.length === 0) {
			const [head] = await ask<{ owner: string; epoch: number; is_done: boolean }>(IS_DONE, [name, batch, seq + 1])
			if (head === undefined || (!isBeside && (head.owner !== owner || head.epoch !== epoch)))
				throw await notOurs(epoch)
			if (!head.is_done) {
				const behind = await newLines()
				// The last line always stays: where none is newer than the last known one, that one is gone.
				if (behind.length === 0) throw lose(PUT_BACK)
				return { behind } satisfies Behind
			}
		}
		place = { epoch, seq: seq + (line === null ? 0 : 1) }
		return null
	}

	/** Lines that others have written since the last known line. */
	async function newLines(): Promise<readonly JournalLine[]> {
		const { epoch, seq } = mustHavePlace()
		const lines = await linesFrom(ask, name, seq)
		if (lines.length > 0 && lines[0]?.seq !== seq + 1)
			throw new StateError('locked', 'the state has changed too much meanwhile: nothing was written, try again')
		place = { epoch, seq: lines.at(-1)?.seq ?? seq }
		return lines.map(({ line }) => fromJson(line) as JournalLine)
	}

	return {
		async acquire() {
			// Where a state was seen, tables that are gone are not made again: a restore brings them back.
			if (!isKnown && !isBeside) await prepareTables(database)
			else if (!(await hasTables(ask, host))) throw gone(host)
			const epoch = await take()
			try {
				// A large state takes longer to load than a lease lasts.
				if (!isBeside) renewal = setInterval(() => void renew(epoch).catch(() => undefined), leaseMs / RENEWALS).unref()
				if (!isBeside) await ask(TIDY, [name, owner, epoch])
				const loaded = await load(database, isCopy)
				if (lost !== null) throw lost
				place = { epoch, seq: loaded.seq }
				journalBytes = loaded.journalBytes
				return loaded
			} catch (error) {
				if (renewal !== null) clearInterval(renewal)
				await renewed
				if (!isBeside) await ask(GIVE_BACK, [name, owner, epoch]).catch(() => undefined)
				throw error
			}
		},
		async append(line, rows) {
			const behind = await move(APPEND, freshBatch(), line, rows)
			if (behind !== null) return behind
			journalBytes += line.length
			return { bytes: journalBytes }
		},
		async compact(whole, rows) {
			mustHavePlace()
			const batch = freshBatch()
			// No reader uses the parts of this batch until the head names it: remove them, since they take room.
			const forget = () => ask(FORGET_PARTS, [name, batch]).catch(() => undefined)
			const bytes = await writeParts(database, batch, whole).catch(async (error: unknown) => {
				await forget()
				throw error
			})
			const behind = await move(SWITCH, batch, rows && '{"changes":[]}', rows ?? [])
			if (behind !== null) await forget()
			if (behind !== null) return behind
			journalBytes = 0
			return { bytes }
		},
		behind: newLines,
		watch(caller) {
			listener = caller
		},
		async keepHistory(options) {
			if (!isBeside) stopForgetting = forgetRows(database, options)
			if (options.keepMs === 0) return null
			// Each row is written with the line that brings it. A copy that was cut off may have left newer ones.
			const [{ last } = { last: 0 }] = await ask<{ last: number }>(LAST_ROW, [name])
			return last
		},
		addHistory: async (entries) => await insertHistory(database, entries),
		keepWatchlists: async (copies) => await writeCopyRows(database, { owner, ...mustHavePlace() }, copies),
		async close() {
			if (renewal !== null) clearInterval(renewal)
			// A renewal that takes effect after the lease was given back would hold it for another lease.
			await renewed
			stopForgetting?.()
			const { epoch } = place ?? {}
			if (epoch !== undefined && !isBeside)
				await ask(GIVE_BACK, [name, owner, epoch]).catch((error) =>
					log?.warn({ err: error }, 'the lease of this instance could not be released'),
				)
			await database.close()
		},
	}
}

interface LoadedRows extends Loaded {
	/** Of the last line. */
	readonly seq: number
	/** An instance has the right to write. */
	readonly isHeld: boolean
	/** The last instance that had it did not give it back. */
	readonly wasKilled: boolean
}

/** The whole state, while another instance may write. `isCopy`: a copy that has begun is this program's own. */
async function load(database: Database, isCopy = false): Promise<LoadedRows> {
	const { name, host } = database
	return await database.snapshot(async (ask) => {
		const [head] = await ask<Head>(HEAD, [name])
		const from = head?.snapshot_seq ?? 0
		const isBegun = head?.snapshot === COPY_BEGUN
		if (isBegun && !isCopy) throw halfCopied(`the database at ${host}`)
		const { whole, size } = await readParts(ask, { name, host, id: isBegun ? '' : (head?.snapshot ?? '') })
		const lines = await linesFrom(ask, name, from)
		if ((lines.at(-1)?.seq ?? from) !== (head?.seq ?? 0) || lines.some(({ seq }, at) => seq !== from + 1 + at))
			throw damaged(host, 'lines of its journal are missing')
		return {
			whole: await replayed(
				whole,
				lines.map(({ line }) => fromJson(line) as JournalLine),
			),
			seq: head?.seq ?? 0,
			snapshotBytes: size,
			journalBytes: lines.reduce((sum, { line }) => sum + line.length, 0),
			isHeld: head?.is_held ?? false,
			wasKilled: head?.was_killed ?? false,
		}
	})
}

/** Reads the state without changing anything. Null when this database has none of this name. Throws StateError. */
export async function peekPostgres(url: string): Promise<Pick<LoadedRows, 'whole' | 'isHeld' | 'wasKilled'> | null> {
	const database = openDatabase(url, { connections: 1, standstillMs: STANDSTILL_MS })
	try {
		if (!(await hasTables(database.ask, database.host))) return null
		const [head] = await database.ask<Head>(HEAD, [database.name])
		return hasBegun(head) ? await load(database) : null
	} finally {
		await database.close()
	}
}

async function linesFrom(ask: Ask, name: string, known: number) {
	const lines: { readonly seq: number; readonly line: string }[] = []
	for (;;) {
		const some = await ask<{ seq: number; line: string }>(LINES, [name, lines.at(-1)?.seq ?? known])
		if (some.length === 0) return lines
		lines.push(...some)
	}
}

async function readParts(
	ask: Ask,
	{ name, host, id }: { readonly name: string; readonly host: string; readonly id: string },
): Promise<{ readonly whole: StateDoc; readonly size: number }> {
	if (id === '') return { whole: emptyState, size: 0 }
	const parts: string[] = []
	for (;;) {
		const some = await ask<{ data: string }>(PARTS, [name, id, parts.length])
		if (some.length === 0) break
		parts.push(...some.map(({ data }) => data))
	}
	if (!parts[0]?.startsWith('[\n') || !parts.at(-1)?.endsWith('\n]'))
		throw damaged(host, 'parts of its snapshot are missing')
	const { whole } = await snapshotFormat.decodeLines(linesOf(parts))
	return { whole, size: parts.reduce((sum, part) => sum + part.length, 0) }
}

/** A part ends with a whole record. */
function* linesOf(parts: readonly string[]): Iterable<string> {
	for (const part of parts) {
		for (const line of part.split('\n')) {
			const record = line.endsWith(',') ? line.slice(0, -1) : line
			if (record !== '[' && record !== ']' && record !== '') yield record
		}
	}
}

/** Resolves to the size. A reader sees the parts when the head names them. */
async function writeParts({ ask, name }: Database, id: string, whole: StateDoc): Promise<number> {
	let [part, text, size] = [0, '', 0]
	for (const piece of snapshotFormat.encode({ line: 0, since: 0, whole, rows: [] })) {
		text += piece
		if (text.length < PART_CHARS) continue
		await ask(INSERT_PART, [name, id, part++, text])
		size += text.length
		text = ''
	}
	await ask(INSERT_PART, [name, id, part, text])
	return size + text.length
}

function gone(host: string): StateError {
	return new StateError(
		'disk',
		`the database at ${host} no longer holds the state that was there: it was dropped, or is being restored. ` +
			'An instance that runs or stands by continues when it is back; one that is restarted begins a new state',
	)
}

function damaged(host: string, what: string): StateError {
	return new StateError(
		'damaged',
		`the state in the database at ${host} is damaged: ${what}. Restore the database from a backup, or name another ` +
			'one in `state`',
	)
}
