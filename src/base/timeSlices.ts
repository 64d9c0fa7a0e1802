import { setImmediate } from 'node:timers/promises'

/** Long work in turns, so that nothing else waits for it. */
export interface Turns {
	/** Whether this turn has lasted long enough. Cheap: to be asked for each line. */
	isOver(): boolean
	/** Lets everybody else have a turn. */
	next(): Promise<void>
}

const turnMs = 5
/** The clock is read once in so many questions. */
const perLook = 32

export function createTurns(): Turns {
	let began = performance.now()
	let asked = 0
	return {
		isOver: () => ++asked % perLook === 0 && performance.now() - began > turnMs,
		async next() {
			await setImmediate()
			began = performance.now()
		},
	}
}
