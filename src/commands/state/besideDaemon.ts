import type { StateSettings } from '../../config/load.js'
import { StateError, UsageError } from '../../errors.js'
import type { Store } from '../../model/ports.js'
import { openStore } from '../../state/open.js'

/**
 * Changes the state. A running daemon holds the folder, so `ask` has it make the change; else `work` makes it here,
 * under the folder's lock. A database is always changed here. `ask` resolves to null when no daemon runs.
 */
export async function besideDaemon(
	{ statePlace, historyMs }: StateSettings,
	ask: (stateDir: string) => Promise<number | null>,
	work: (store: Store) => Promise<number>,
): Promise<number> {
	const count = statePlace.kind === 'folder' ? await ask(statePlace.dir) : null
	if (count !== null) return count
	const options = { clock: Date.now, isBeside: true, ...(historyMs === undefined ? {} : { historyMs }) }
	const store = await openStore(statePlace, options).catch(async (error: unknown) => {
		// The daemon was still starting at the first attempt, and holds the lock now.
		const late = isHeld(error) && statePlace.kind === 'folder' ? await ask(statePlace.dir) : null
		if (late === null) throw error
		return late
	})
	if (typeof store === 'number') return store
	try {
		return await work(store)
	} finally {
		await store.close()
	}
}

function isHeld(error: unknown): boolean {
	return error instanceof StateError && error.reason === 'locked'
}

interface Choice<T> {
	/** What the person names, such as `blocks`. */
	readonly what: string
	readonly named: readonly string[]
	readonly all: unknown
	/** What the filters let through. */
	readonly found: readonly T[]
	/** Throws where there is no such thing. */
	find(name: string): T
}

/** What the person named, or with --all everything. */
export function choose<T>({ what, named, all, found, find }: Choice<T>): readonly T[] {
	if ((all === true) === named.length > 0) throw new UsageError(`name ${what}, or say --all; \`list\` shows them`)
	return all === true ? found : [...new Set(named)].map(find)
}
