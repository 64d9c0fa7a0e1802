import { isLowPriority } from './priority.js'
import { unlessAborted } from './wait.js'

/** Callers wait in line, first come, first served; those of low priority let the others overtake them. */
export interface Line {
	/**
	 * Repeats the attempt when it is first in line, until it succeeds. Later callers wait behind it, except that urgent
	 * callers overtake those of low priority. Throws the signal's reason, and leaves the line at once.
	 */
	pass<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T>
	/** Whether a new urgent caller would have to wait behind another one. */
	isBusy(): boolean
}

/** `isOwn`: the wait is for a limit of this caller alone, so the callers behind it need not wait. */
export type Attempt<T> = () => { readonly done: T } | { readonly wait: () => Promise<void>; readonly isOwn?: boolean }

/** After this time, others no longer overtake one of low priority, so that it is never starved. */
const MOST_PATIENCE_MS = 5_000

export function createLine(now: () => number): Line {
	const line = createQueue()
	/** Callers of low priority wait here for each other; only the first of them waits in the line. */
	const lowLine = createQueue()
	let urgent = 0

	/** Waits out of the line for a limit of the caller alone, and, while `holds` says no, for every limit. */
	async function passLine<T>(attempt: Attempt<T>, signal: AbortSignal, holds: () => boolean, weight = 0): Promise<T> {
		for (;;) {
			const isHolding = holds()
			let leave = () => {}
			let made: ReturnType<Attempt<T>>
			urgent += weight
			try {
				leave = await line.enter(signal, isHolding ? 'front' : 'back')
				for (made = attempt(); 'wait' in made && isHolding && made.isOwn !== true; made = attempt()) await made.wait()
			} finally {
				urgent -= weight
				leave()
			}
			if ('done' in made) return made.done
			await made.wait()
		}
	}

	async function passAsLow<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
		const sinceMs = now()
		const leave = await lowLine.enter(signal, 'front')
		return await passLine(attempt, signal, () => now() - sinceMs >= MOST_PATIENCE_MS).finally(leave)
	}

	return {
		pass: (attempt, signal) =>
			isLowPriority(signal) ? passAsLow(attempt, signal) : passLine(attempt, signal, () => true, 1),
		isBusy: () => urgent > 0,
	}
}

interface Queue {
	/** Resolves when it is the caller's turn, to the function that ends it. `back`: after all that come to the front. */
	enter(signal: AbortSignal, place: 'front' | 'back'): Promise<() => void>
}

function createQueue(): Queue {
	let isTaken = false
	const waiting = { front: new Set<() => void>(), back: new Set<() => void>() }
	const leave = () => {
		const own = waiting.front.size > 0 ? waiting.front : waiting.back
		const [next] = own
		if (next === undefined) {
			isTaken = false
			return
		}
		own.delete(next)
		next()
	}
	return {
		async enter(signal, place) {
			signal.throwIfAborted()
			if (!isTaken) {
				isTaken = true
				return leave
			}
			const own = waiting[place]
			let turn = () => {}
			const called = new Promise<void>((resolve) => {
				turn = resolve
			})
			own.add(turn)
			try {
				await unlessAborted(called, signal)
			} catch (error) {
				// Called and aborted in one step: the turn goes to the next.
				if (!own.delete(turn)) leave()
				throw error
			}
			return leave
		},
	}
}
