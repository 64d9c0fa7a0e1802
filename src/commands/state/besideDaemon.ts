import type { StateSettings } from '../../config/load.js'
import { carryOut } from '../../daemon/controlAnswer.js'
import { StateError, UsageError } from '../../errors.js'
import { askControl, type ChangeRequest } from '../../ops/controlSocket.js'
import { openStore } from '../../state/open.js'

/**
 * Changes the state. A running daemon holds the folder and does what is requested; else it is done here, under the
 * folder's lock. A database is always changed here. Resolves to how many deliveries or gaps were changed.
 */
export async function besideDaemon({ statePlace, historyMs }: StateSettings, request: ChangeRequest): Promise<number> {
	const ask = async () => (statePlace.kind === 'folder' ? await askControl(statePlace.dir, request) : null)
	const count = await ask()
	if (count !== null) return count
	const options = { clock: Date.now, isBeside: true, ...(historyMs === undefined ? {} : { historyMs }) }
	const store = await openStore(statePlace, options).catch(async (error: unknown) => {
		// The daemon was still starting at the first attempt, and holds the lock now.
		const isHeld = error instanceof StateError && error.reason === 'locked'
		const late = isHeld ? await ask() : null
		if (late === null) throw error
		return late
	})
	if (typeof store === 'number') return store
	try {
		return await carryOut(store, request)
	} finally {
		await store.close()
	}
}

/** Throws UsageError unless the person names some, or all. `what`: such as `blocks`. */
export function needChoice(what: string, named: readonly string[], all: unknown): void {
	if ((all === true) === named.length > 0) throw new UsageError(`name ${what}, or say --all; \`list\` shows them`)
}
