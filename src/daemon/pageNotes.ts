import type { NetworkState } from '../model/state.js'
import type { LastAnswer } from '../pages/pageData.js'
import type { NoteState } from './polling/noting.js'

/** What the pages know without reading the state. */
export interface PageNotes {
	readonly note: NoteState
	readonly states: ReadonlyMap<string, NetworkState>
	/** Host of the endpoint of each network that answered last. */
	readonly endpoints: Map<string, string>
	/** By receiver. */
	readonly answers: Map<string, LastAnswer>
}

export function createPageNotes(): PageNotes {
	const states = new Map<string, NetworkState>()
	return { states, note: (network, state) => void states.set(network, state), endpoints: new Map(), answers: new Map() }
}
