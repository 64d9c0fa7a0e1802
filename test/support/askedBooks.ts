/** Books of which each must be loaded before it is read, as books in a database must be. */
import type { BookSet } from '../../src/model/books.js'
import type { Address } from '../../src/model/glossary.js'
import type { Store } from '../../src/model/ports.js'
import type { NetworkState } from '../../src/model/state.js'
import { type Books, booksOf } from '../../src/state/bookShards.js'

function askedBooks(own: Books, known: Set<Address>): BookSet {
	const must = (address: Address) => {
		if (!known.has(address)) throw new Error(`the book of ${address} is read before it was loaded`)
	}
	const notWhole = (): never => {
		throw new Error('books are visited one by one')
	}
	function* afterSteps(changes: Parameters<Books['after']>[0]) {
		for (const address of changes.keys()) must(address)
		return askedBooks(yield* own.afterSteps(changes), new Set(changes.keys()))
	}
	const whole = { keys: notWhole, values: notWhole, entries: notWhole, forEach: notWhole, [Symbol.iterator]: notWhole }
	return {
		...own,
		...whole,
		async load(addresses) {
			const asked = [...addresses]
			await Promise.resolve()
			for (const address of asked) known.add(address)
		},
		get(address) {
			must(address)
			return own.get(address)
		},
		has(address) {
			must(address)
			return own.has(address)
		},
		afterSteps,
	}
}

/** A store whose states have such books. */
export function askingForBooks(store: Store): Store {
	const asked = (state: NetworkState): NetworkState =>
		state.books.load === undefined ? { ...state, books: askedBooks(booksOf(state.books), new Set()) } : state
	return {
		...store,
		async network(name) {
			const state = await store.network(name)
			return state && asked(state)
		},
		commit: async (change) => asked(await store.commit(change)),
		enrol: async (name, change) => asked(await store.enrol(name, change)),
	}
}
