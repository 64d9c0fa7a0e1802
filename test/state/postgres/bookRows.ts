// Books for tests of the rows that hold them.
import { onTestFinished } from 'vitest'
import type { Book } from '../../../src/model/books.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Store } from '../../../src/model/ports.js'
import { openPostgresStore } from '../../../src/state/postgres/postgresStore.js'
import { readState } from '../samples.js'

export type Books = ReadonlyMap<Address, Book>

/** As if by chance. */
export function addressOf(n: number): Address {
	const number = (BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bn) % 2n ** 160n
	return `0x${number.toString(16).padStart(40, '0')}`
}

/** An account of up to ten coins. */
export function bookOf(n: number, block: number): Book {
	return { block: BigInt(block), balanceWei: (BigInt(n) * 0x9e3779b97f4a7c15n) % 10n ** 19n, movedWei: 0n, code: null }
}

export async function opened(url: string, clock: () => number = Date.now): Promise<Store> {
	const store = await openPostgresStore(url, { clock, leaseMs: 30_000, skewMs: 0 })
	onTestFinished(() => store.close())
	await store.acquireLease('ethereum')
	return store
}

export async function booksOf(store: Store, network = 'ethereum'): Promise<Books> {
	return (await readState(await store.network(network)))?.books ?? new Map()
}
