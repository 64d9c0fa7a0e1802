import type { RpcError } from '../errors.js'
import type { AddressSet, Doubt, Fared, Part } from '../model/chain.js'
import type { Clock } from '../model/glossary.js'
import type { Log, Tries } from '../model/ports.js'

/** When blocks that fail are asked for again; between polls it remembers only that. */
export interface GapKeeper {
	/** Whether `tryAll` would try now. */
	isDue(): boolean
	/** Everything is tried once for a block that has failed; null where that was done a moment ago. */
	tryAll(doubt: Doubt, addresses: AddressSet, signal: AbortSignal): Promise<Part | readonly Fared[] | null>
	/**
	 * Why a block took too long when everything was tried for it: a node that is busy with it answers nothing else, and
	 * would never be heard if each poll asked for it anew. Null: it may be walked over.
	 */
	tooLongAt(number: bigint): RpcError | null
	/** A walk over it took too long, and so did everything else; what it has asked for may still be answered. */
	noteTooLong(number: bigint, error: RpcError): void
	/** Up to which block one after the other is to be read from here; null: as many at once as one likes. */
	singlyTo(number: bigint): bigint | null
	/** A walk over several blocks took too long, or ended at a gap: the next ones are read one after the other. */
	goCarefully(from: bigint): void
	/** The hash of a block that may be a gap; see Tries. */
	readonly hashOf: Tries['hashOf']
	/** It was opened now, and is read again after a while. */
	opened(number: bigint): void
	/**
	 * Reads an open gap again, beside the polls: resolves to it within a moment, or at a later call, or to null. One at a
	 * time, each when it is due: soon after it was opened or the program started, then more and more seldom, and when a
	 * person wants it (`wantedAtMs`).
	 */
	reread(
		gaps: readonly OpenGap[],
		addressesOf: (number: bigint) => AddressSet,
		signal: AbortSignal,
	): Promise<Part | null>
}

export interface OpenGap {
	readonly number: bigint
	readonly wantedAtMs?: number
}

export interface GapKeeperOptions {
	readonly tries: Tries
	readonly clock: Clock
	readonly log: Log
	/** How long a poll waits for a gap that is read again. Default 3 s. */
	readonly momentMs?: number
}

const betweenMs = 4_000
const afterGapMs = 0
/** What was asked for by a walk is waited for so long in all. */
const slowWalkMs = 25_000
/** Where one block cannot be read others may be near. */
const carefulBlocks = 128n
const longestBetweenMs = 60_000
const firstRereadMs = 30_000
const longestRereadMs = 3_600_000

export function createGapKeeper({ tries, clock, log, momentMs = 3_000 }: GapKeeperOptions): GapKeeper {
	let triedAtMs = Number.NEGATIVE_INFINITY
	let waitMs = betweenMs
	/** By block, since the program started. */
	const rereads = new Map<bigint, { readonly times: number; readonly atMs: number; readonly dueAtMs: number }>()
	let running: { readonly number: bigint; readonly done: Promise<Part | null> } | null = null
	let found: Part | null = null
	let slow: { readonly number: bigint; readonly error: RpcError; readonly sinceMs: number } | null = null
	/** Up to this block none is walked over with others; null: they are. */
	let carefulTo: bigint | null = null

	function isTryDue(): boolean {
		const sinceMs = clock() - triedAtMs
		return sinceMs < 0 || sinceMs >= waitMs
	}

	async function readOne(number: bigint, addresses: AddressSet, signal: AbortSignal): Promise<Part | null> {
		const doubt = { number, before: [], after: [], furtherAfter: [], wait: 'patient' } as const
		try {
			const came = await tries.tryAll(doubt, addresses, signal)
			if ('span' in came) return came
			log.debug({ block: number, fared: came }, 'a gap still cannot be read')
		} catch (error) {
			if (!signal.aborted) log.debug({ block: number, err: error }, 'a gap still cannot be read')
		}
		return null
	}

	function begin(number: bigint, addresses: AddressSet, signal: AbortSignal): void {
		const times = (rereads.get(number)?.times ?? 0) + 1
		const atMs = clock()
		const done = readOne(number, addresses, signal).then((part) => {
			const pauseMs = Math.min(longestRereadMs, firstRereadMs * 2 ** (times - 1))
			rereads.set(number, { times, atMs, dueAtMs: clock() + pauseMs })
			running = null
			found = part
			return part
		})
		running = { number, done }
	}

	function isDue({ number, wantedAtMs = Number.NEGATIVE_INFINITY }: OpenGap): boolean {
		const last = rereads.get(number)
		const nowMs = clock()
		// What lies ahead was noted before the clock was set back.
		return last === undefined || last.dueAtMs <= nowMs || last.atMs > nowMs || wantedAtMs > last.atMs
	}

	function take(): Part | null {
		const part = found
		found = null
		return part
	}

	return {
		isDue: isTryDue,
		async tryAll(doubt, addresses, signal) {
			if (!isTryDue()) return null
			const came = await tries.tryAll(doubt, addresses, signal)
			if ('span' in came) return came
			triedAtMs = clock()
			// Where nobody is heard it is not this block: asking all would only add to what is wrong.
			waitMs = came.some(({ result }) => result === 'fails') ? betweenMs : Math.min(longestBetweenMs, waitMs * 2)
			return came
		},
		tooLongAt: (number) => (slow?.number === number && clock() - slow.sinceMs > slowWalkMs ? slow.error : null),
		noteTooLong(number, error) {
			slow = { number, error, sinceMs: slow?.number === number ? slow.sinceMs : clock() }
		},
		singlyTo(number) {
			if (carefulTo !== null && number > carefulTo) carefulTo = null
			return carefulTo
		},
		goCarefully(from) {
			carefulTo = from + carefulBlocks
		},
		hashOf: tries.hashOf,
		opened(number) {
			// The next one may be of the same kind; until then the endpoints may be at rest for this one.
			waitMs = afterGapMs
			rereads.set(number, { times: 0, atMs: clock(), dueAtMs: clock() + firstRereadMs })
		},
		async reread(gaps, addressesOf, signal) {
			const open = new Set(gaps.map(({ number }) => number))
			for (const number of rereads.keys()) if (!open.has(number)) rereads.delete(number)
			if (running === null && found === null) {
				const due = gaps.find(isDue)
				if (due === undefined) return null
				begin(due.number, addressesOf(due.number), signal)
			}
			if (running !== null) await moment(running.done, momentMs)
			return take()
		},
	}
}

async function moment(done: Promise<unknown>, ms: number): Promise<void> {
	let timer: NodeJS.Timeout | undefined
	const enough = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms)
	})
	await Promise.race([done, enough])
	clearTimeout(timer)
}
