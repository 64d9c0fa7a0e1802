import type { NetworkSummary } from '../model/state.js'
import type { NetworkHealth } from '../model/trouble.js'

/**
 * How far a network is, by the state and by the daemon that polls it; null stands for what is not known.
 * `staleSince`: no daemon polls, and the head was last read at this time (ISO 8601).
 */
export function networkLine(
	state: NetworkSummary | undefined,
	health: NetworkHealth | undefined,
	staleSince: string | null = null,
) {
	const checkpoint = state === undefined ? (health?.checkpoint ?? null) : Number(state.checkpoint.number)
	const headUnknownSince = health?.headUnknownSince ?? staleSince
	const head = headUnknownSince === null ? (health?.head ?? state?.seen?.head ?? null) : null
	const isLagKnown = checkpoint !== null && head !== null && !(health && isLagUnknown(health))
	return {
		checkpoint,
		...{ head, headUnknownSince, lagBlocks: isLagKnown ? Math.max(0, head - checkpoint) : null },
		source: state?.seen?.source ?? null,
		books: state?.seen?.books ?? null,
		logs: state?.seen?.logs ?? null,
	}
}

/** Whether a daemon does not know how far the head is: no poll has shown it, or it is behind the checkpoint. */
export function isLagUnknown({ headUnknownSince, isBehindCheckpoint }: NetworkHealth): boolean {
	return headUnknownSince !== undefined || isBehindCheckpoint === true
}
