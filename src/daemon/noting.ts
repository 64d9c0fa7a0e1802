import type { Store } from '../model/ports.js'
import type { Announcement, NetworkState } from '../model/state.js'

/** What a network's state has become, and what was announced by that. */
export type NoteState = (network: string, state: NetworkState, announcements: readonly Announcement[]) => void

/** The store, with a word about each state that it gives: what pages show of it costs no further reading. */
export function noting(store: Store, note: NoteState): Store {
	return {
		...store,
		async network(name) {
			const state = await store.network(name)
			if (state !== null) note(name, state, [])
			return state
		},
		async commit(change) {
			const state = await store.commit(change)
			note(change.network, state, change.announcements ?? [])
			return state
		},
		async enrol(network, change) {
			const state = await store.enrol(network, change)
			note(network, state, [])
			return state
		},
	}
}
