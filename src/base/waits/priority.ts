/** A signal carries the priority of its work: calls of low priority let others overtake them. */

const low = new WeakSet<AbortSignal>()

export function makeLowPriority(signal: AbortSignal): void {
	low.add(signal)
}

export function isLowPriority(signal: AbortSignal): boolean {
	return low.has(signal)
}
