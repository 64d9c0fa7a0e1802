/**
 * What was written over is given free soon. The database does that by itself, once a minute at most: where a poll
 * writes a fiftieth of all books, these would take twice the room by then. And a step that writes most of them at once,
 * as when many blocks are caught up with, leaves a table that stays too large: it is made anew then.
 */

import type { Clock } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { PER_SHEET } from './books.js'
import type { Ask } from './database.js'

export interface BookTidying {
	/** So many sheets of so many books were written. */
	note(sheets: number, books: number): void
}

export interface BookTidyingOptions {
	readonly ask: Ask
	/** By this instance's clock. */
	readonly clock: Clock
	readonly log: Log | undefined
}

/** Sheets that may be written before: a few are no matter, else a fortieth. */
const FEW = 50
const SHARE = 1 / 40

/**
 * Table and indexes to what the rows of a new table would take: 1.02 with the index when new. And what is no matter. A
 * row of more than a fifth of a page takes a quarter, whatever is in it.
 */
const MOST_TIMES = 1.085
const SPARE_BYTES = 1 << 20
/**
 * While a table is made anew nobody can use it, for a second at a million books. Where it was in vain, as when somebody
 * still read what was written over, or books are large, it takes twice as long until it is tried again.
 */
const REST_MS = { least: 10 * 60_000, most: 24 * 3_600_000 }

export function createBookTidying({ ask, clock, log }: BookTidyingOptions): BookTidying {
	let written = 0
	let most = FEW
	let isRunning = false
	let isTooLarge = false
	let restsUntilMs = 0
	let restMs = REST_MS.least

	async function isMuch(): Promise<boolean> {
		const [row] = await ask<{ readonly taken: number; readonly held: number }>(SIZES)
		return row !== undefined && row.taken > MOST_TIMES * row.held + SPARE_BYTES
	}

	async function tidy(): Promise<void> {
		isRunning = true
		try {
			await ask('vacuum tracewatch.sheet')
			isTooLarge = await isMuch()
			if (!isTooLarge || clock() < restsUntilMs) return
			restsUntilMs = clock() + restMs
			// Also where it fails, as behind somebody who reads the table for long.
			restMs = Math.min(2 * restMs, REST_MS.most)
			await ask('vacuum full tracewatch.sheet')
			isTooLarge = await isMuch()
			if (!isTooLarge) restMs = REST_MS.least
			restsUntilMs = clock() + restMs
		} catch (error) {
			log?.debug({ err: error }, 'the room of earlier books was not given free')
		} finally {
			isRunning = false
		}
		// What was written meanwhile.
		if (written > most) begin()
	}

	function begin(): void {
		written = 0
		void tidy()
	}

	return {
		note(sheets, books) {
			written += sheets
			most = Math.max(FEW, (books / PER_SHEET) * SHARE)
			if (!isRunning && (written > most || (isTooLarge && clock() >= restsUntilMs))) begin()
		},
	}
}

const SIZES = `
	select pg_total_relation_size('tracewatch.sheet') as taken,
		sum(greatest(octet_length(books) + 60, case when octet_length(books) > 1580 then 2048 end))::bigint as held
	from tracewatch.sheet`
