/**
 * All stored times are by the database's clock: otherwise instances whose clocks differ by minutes would try deliveries
 * too early or too late. Callers use this instance's clock.
 */

import type { Clock } from '../../../model/glossary.js'
import type { Log } from '../../../model/ports.js'
import type { Ask } from './database.js'

export interface Skew {
	/** Converts a time of this instance's clock to the database's. */
	toDatabase(ms: number): number
	fromDatabase(ms: number): number
	/**
	 * Compares both clocks. Differences below 1 s are ignored, so that with synchronised clocks a time is read back
	 * exactly as written.
	 */
	measure(): Promise<void>
}

const WORTH_TELLING_MS = 5_000
const LEAST_CHANGE_MS = 1_000
/** The measurement is repeated up to this often if the answer was slow. */
const TRIES = 3

/** `fixedMs`: how far the database's clock is ahead; null: it is measured. */
export function createSkew(ask: Ask, clock: Clock, log: Log | undefined, fixedMs: number | null): Skew {
	let aheadMs = fixedMs ?? 0

	/** How far the database's clock is ahead, ± `withinMs`, which is half of the query's duration. */
	async function look(): Promise<{ readonly seenMs: number; readonly withinMs: number }> {
		let best = { seenMs: 0, withinMs: Number.POSITIVE_INFINITY }
		for (let tries = 0; tries < TRIES && best.withinMs > LEAST_CHANGE_MS / 2; tries++) {
			const beforeMs = clock()
			const [row] = await ask<{ ms: string }>('select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms')
			const afterMs = clock()
			const withinMs = Math.abs(afterMs - beforeMs) / 2
			if (withinMs < best.withinMs) best = { seenMs: Math.round(Number(row?.ms) - (beforeMs + afterMs) / 2), withinMs }
		}
		return best
	}

	return {
		toDatabase: (ms) => Math.round(ms + aheadMs),
		fromDatabase: (ms) => Math.round(ms - aheadMs),
		async measure() {
			if (fixedMs !== null) return
			const { seenMs, withinMs } = await look()
			// The measured change is within the error of measurement.
			if (Math.abs(seenMs - aheadMs) < Math.max(LEAST_CHANGE_MS, withinMs)) return
			aheadMs = seenMs
			if (Math.abs(seenMs) < WORTH_TELLING_MS) return
			const seconds = Math.round(Math.abs(seenMs) / 1000)
			log?.warn(
				{},
				`the clock of this machine is ${seconds} s ${seenMs > 0 ? 'behind' : 'ahead of'} the database's; ` +
					'is it kept right?',
			)
		},
	}
}
