import { setMaxListeners } from 'node:events'
import { isPatient } from './patience.js'

/** Callers wait in line, first come, first served; those with a patient signal let the others overtake them. */
export interface Line {
	/**
	 * Repeats the attempt when it is first in line, until it succeeds. Later callers wait behind it, except that urgent
	 * callers overtake patient ones. Throws the signal's reason, and leaves the line at once.
	 */
	pass<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T>
	/** Whether a new urgent caller would have to wait behind another one. */
	isBusy(): boolean
}

/** `isOwn`: the wait is for a limit of this caller alone, so the callers behind it need not wait. */
export type Attempt<T> = () => { readonly done: T } | { readonly wait: () => Promise<void>; readonly isOwn?: boolean }

/** After this time, urgent callers no longer overtake a patient one, so that it is never starved. */
const MOST_PATIENCE_MS = 5_000

export function createLine(now: () => number): Line {
	const line = createQueue()
	/** Patient callers wait here for each other; only the first of them waits in the line. */
	const patientLine = createQueue()
	let urgent = 0
	const own: Way = { place: 'front', holds: true, onLeave: () => void urgent-- }

	/** One turn at the line. Null: the attempt waited, and its caller has left the line. */
	async function turn<T>(
		attempt: Attempt<T>,
		signal: AbortSignal,
		{ place, holds, onLeave = () => {} }: Way,
	): Promise<{ readonly done: T } | null> {
		const leave = await line.enter(signal, place).catch((error: unknown) => {
			onLeave()
			throw error
		})
		let made: ReturnType<Attempt<T>>
		try {
			for (made = attempt(); 'wait' in made && holds && made.isOwn !== true; made = attempt()) await made.wait()
		} finally {
			onLeave()
			leave()
		}
		if ('done' in made) return made
		await made.wait()
		return null
	}

	async function passUrgently<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
		for (;;) {
			urgent += 1
			const made = await turn(attempt, signal, own)
			if (made !== null) return made.done
		}
	}

	async function passPatiently<T>(attempt: Attempt<T>, signal: AbortSignal): Promise<T> {
		const sinceMs = now()
		const leavePatient = await patientLine.enter(signal, 'front')
		try {
			for (;;) {
				const isLate = now() - sinceMs >= MOST_PATIENCE_MS
				const made = await turn(attempt, signal, isLate ? late : patient)
				if (made !== null) return made.done
			}
		} finally {
			leavePatient()
		}
	}

	return {
		pass: (attempt, signal) => (isPatient(signal) ? passPatiently : passUrgently)(attempt, signal),
		isBusy: () => urgent > 0,
	}
}

/** Where a caller joins the line, and whether the callers behind it must wait while it waits. */
interface Way {
	readonly place: 'front' | 'back'
	readonly holds: boolean
	readonly onLeave?: () => void
}

const patient = { place: 'back', holds: false } as const
const late = { place: 'front', holds: true } as const

interface Queue {
	/** Resolves when it is the caller's turn, to the function that ends it. `back`: after all that come to the front. */
	enter(signal: AbortSignal, place: 'front' | 'back'): Promise<() => void>
}

function createQueue(): Queue {
	let isTaken = false
	const waiting = { front: new Set<() => void>(), back: new Set<() => void>() }
	const leave = () => {
		const [next] = waiting.front.size > 0 ? waiting.front : waiting.back
		if (next === undefined) isTaken = false
		else next()
	}
	return {
		async enter(signal, place) {
			signal.throwIfAborted()
			if (!isTaken) {
				isTaken = true
				return leave
			}
			// Every request under way listens to the same signal; a large number of listeners is no leak.
			setMaxListeners(0, signal)
			await new Promise<void>((resolve, reject) => {
				const own = waiting[place]
				const end = () => {
					own.delete(turn)
					signal.removeEventListener('abort', abort)
				}
				const turn = () => {
					end()
					resolve()
				}
				const abort = () => {
					end()
					reject(signal.reason)
				}
				own.add(turn)
				signal.addEventListener('abort', abort, { once: true })
			})
			return leave
		},
	}
}
