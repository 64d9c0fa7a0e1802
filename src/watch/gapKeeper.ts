import { lengthOf } from '../core/spans.js'
import type { RpcError } from '../errors.js'
import type { AddressSet, Doubt, Fared, Part, Span } from '../model/chain.js'
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
	/** How many blocks are to be read at once from here, one question after the other; null: as many as one likes. */
	readonly atOnce: (number: bigint) => number | null
	/** A walk over several blocks took too long, or ended at a gap: the next ones are read one by one, then more. */
	goCarefully(from: bigint): void
	/** These were read in time. */
	cameWell(span: Span): void
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

interface Careful {
	readonly to: bigint
	/** Read at once now. */
	readonly blocks: number
	/** So many must come alone before two are read at once. */
	readonly alone: number
	/** So many did. */
	readonly came: number
}

const betweenMs = 4_000
const afterGapMs = 0
/** What was asked for by a walk is waited for so long in all. */
const slowWalkMs = 25_000
/** Where one block cannot be read others may be near. */
const carefulBlocks = 128n
/** So many in a row that came well alone, and two are read at once, then four; each failure of several doubles it. */
const firstAlone = 4
/** Then as many as one likes. */
const mostCareful = 64
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
	/** Up to this block few are walked over at once; null: as many as one likes. */
	let careful: Careful | null = null

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
		atOnce(number) {
			if (careful !== null && number > careful.to) careful = null
			return careful?.blocks ?? null
		},
		goCarefully(from) {
			const { blocks = 1, alone = firstAlone } = careful ?? {}
			careful = { to: from + carefulBlocks, blocks: 1, alone: blocks > 1 ? 2 * alone : alone, came: 0 }
		},
		cameWell(span) {
			if (careful === null || lengthOf(span) < careful.blocks) return
			const came = careful.came + 1
			if (careful.blocks === 1 && came < careful.alone) careful = { ...careful, came }
			else if (careful.blocks === mostCareful) careful = null
			else careful = { ...careful, blocks: 2 * careful.blocks }
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
