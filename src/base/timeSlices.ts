import { setImmediate } from 'node:timers/promises'

/** Long work in slices, so that nothing else waits for it. */
export interface TimeSlices {
	/** Whether this slice has lasted long enough. Cheap: to be asked for each line. */
	isOver(): boolean
	/** Lets everybody else have a turn. */
	next(): Promise<void>
}

const sliceMs = 5
/** The clock is read once in so many questions. */
const perLook = 32

/** `onTurn`: called at the end of each slice. */
export function createTimeSlices(onTurn?: () => void): TimeSlices {
	let began = performance.now()
	let asked = 0
	return {
		isOver: () => ++asked % perLook === 0 && performance.now() - began > sliceMs,
		async next() {
			onTurn?.()
			await setImmediate()
			began = performance.now()
		},
	}
}
