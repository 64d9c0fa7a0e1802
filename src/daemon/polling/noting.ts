import type { Store } from '../../model/ports.js'
import type { NetworkState } from '../../model/state.js'

/** Called with the new state of a network. */
export type NoteState = (network: string, state: NetworkState) => void

/** Wraps a store and reports each state that it returns, so that pages need no further reads. */
export function noting(store: Store, note: NoteState): Store {
	return {
		...store,
		async network(name) {
			const state = await store.network(name)
			if (state !== null) note(name, state)
			return state
		},
		async commit(change) {
			const state = await store.commit(change)
			note(change.network, state)
			return state
		},
		async enrol(network, change) {
			const state = await store.enrol(network, change)
			note(network, state)
			return state
		},
	}
}
