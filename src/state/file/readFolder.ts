/** Reads a state folder: the snapshot, then the changes in the journal. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { StateError } from '../../errors.js'
import type { HistoryEntry } from '../../model/history.js'
import type { StateDoc } from '../document.js'
import { replayOn } from '../journal.js'
import { type Snapshot, snapshotFormat, statePath } from '../records/snapshot.js'
import { FORMAT, otherFormat } from '../stateFormat.js'
import { Damage, damagedError, previousOf, shellQuoted } from './disk/damage.js'
import { exists } from './disk/diskErrors.js'
import { durableFile } from './disk/durable.js'
import { openOwnFile } from './disk/ownFile.js'
import { lastRowIn } from './historyFiles.js'
import { type FoundJournal, headOf, type JournalEnd, journalPath, readJournal } from './journalFile.js'

export interface FoundFolder {
	readonly whole: StateDoc
	/** Rows of history that are not in their files yet. */
	readonly rows: readonly HistoryEntry[]
	/** Id of the snapshot. */
	readonly id: string
	/** Null: start a new one, because the snapshot already contains the old one. */
	readonly journal: JournalEnd | null
}

const MISSING = 'it is missing, though there was one'

/** Null: nothing was ever stored here. Throws StateError `damaged`, `format` or `disk`. */
export async function readFolder(folder: string): Promise<FoundFolder | null> {
	await mustBeOurFormat(folder)
	const snapshot = await readSnapshot(folder)
	if (snapshot === null) return null
	const { id, before, whole } = snapshot
	const written = await lastRowIn(folder)
	const unwritten = (rows: readonly HistoryEntry[]) => rows.filter(({ seq }) => seq > written)
	const rows = unwritten(snapshot.rows)
	try {
		const journal = await readJournal(folder)
		if (journal === null) throw new Damage(MISSING)
		if (journal.of === id) {
			const found = await replayedFrom(whole, journal, (more) => rows.push(...unwritten(more)))
			return { id, rows, ...found }
		}
		// The process was killed after it wrote the snapshot and before it started the journal.
		if (journal.of === before || isBlank(journal)) return { id, whole, rows, journal: null }
		throw new Damage('it belongs to another state.json')
	} catch (error) {
		throw error instanceof Damage ? journalError(folder, id, error) : error
	}
}

/** Of every version before this one, too. */
const FILES = ['state.json', 'state.json.prev', 'journal.jsonl', 'coverage.json']

/** Reads only how the files begin. Throws StateError `format` if another version wrote one of them. */
export async function mustBeOurFormat(folder: string): Promise<void> {
	for (const name of FILES) {
		const path = join(folder, name)
		const [, found = FORMAT] = /^\{"v":(\d{1,9}),/.exec(await beginningOf(path)) ?? []
		if (Number(found) !== FORMAT) throw otherFormat(path, found, 'folder')
	}
}

/** Empty where there is none. What cannot be read is reported by the function that needs all of it. */
async function beginningOf(path: string): Promise<string> {
	let text = ''
	try {
		const file = await openOwnFile(path)
		for await (const chunk of file.createReadStream({ end: 31, encoding: 'latin1' })) text += chunk
	} catch {}
	return text
}

/** Null: nothing was ever stored here. */
async function readSnapshot(folder: string): Promise<Snapshot | null> {
	const path = statePath(folder)
	try {
		const found = await durableFile(path, snapshotFormat).read()
		if (found !== null || !(await wasThere(folder))) return found
		throw new Damage(MISSING)
	} catch (error) {
		throw error instanceof Damage ? await damagedError(path, error, await restoreThen(folder)) : error
	}
}

async function wasThere(folder: string): Promise<boolean> {
	if (await exists(previousOf(statePath(folder)))) return true
	const journal = await readJournal(folder).catch(() => null)
	return journal !== null && !isBlank(journal)
}

function isBlank(journal: FoundJournal): boolean {
	for (const _line of journal.lines()) return false
	return true
}

/** The command that restores the journal of the snapshot before; empty: it is in place; null: there is no whole one. */
async function restoreThen(folder: string): Promise<string | null> {
	const [state, journal] = [previousOf(statePath(folder)), previousOf(journalPath(folder))]
	const found = await durableFile(state, snapshotFormat)
		.read()
		.catch(() => null)
	if (found === null) return null
	const head = headOf(found.id)
	const isOfIt = async (path: string) => (await readFile(path, 'utf8').catch(() => '')).startsWith(`${head}\n`)
	if (await isOfIt(journalPath(folder))) return ''
	return (await isOfIt(journal))
		? `cp -p ${shellQuoted(journal)} ${shellQuoted(journalPath(folder))}`
		: `echo '${head}' > ${shellQuoted(journalPath(folder))}`
}

/** The state after all lines, and where the next one goes. */
async function replayedFrom(
	whole: StateDoc,
	journal: FoundJournal,
	onRows: (rows: readonly HistoryEntry[]) => void,
): Promise<{ readonly whole: StateDoc; readonly journal: JournalEnd }> {
	const replay = replayOn(whole)
	let end = journal.start
	for (const { end: next, ...line } of journal.lines()) {
		try {
			onRows(replay.apply(line))
		} catch (cause) {
			const number = next.lines + 1
			throw new Damage(`line ${number} cannot be understood`, { line: number, cause })
		}
		end = next
		if (isSliceOver()) await nextSlice()
	}
	return { whole: replay.whole(), journal: end }
}

function journalError(folder: string, id: string, { line, message, cause }: Damage): StateError {
	const path = journalPath(folder)
	const price =
		'blocks since then are scanned again, some alerts may come a second time under the same id, and watches that ' +
		'were added since then are taken as new'
	const cut =
		line > 1 ? `To keep the ${line - 2} writes before it: sed -i '${line},$d' ${shellQuoted(path)} (${price}). ` : ''
	const alone = `To continue with state.json alone: echo '${headOf(id)}' > ${shellQuoted(path)} (${price}).`
	return new StateError('damaged', `${path} is damaged: ${message}. Nothing was changed. ${cut}${alone}`, { cause })
}
