import { type Movement, type Movements, plus, still } from '../core/books.js'
import { RpcError } from '../errors.js'
import type { Accounts, Balances } from '../model/books.js'
import type { AddressSet, BlockRef, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { BooksDraft } from './booksDraft.js'

/** Touched watches are closed block by block, where a part has not more blocks than this that touch them. */
const MOST_BLOCKS_EACH = 16

/** So many are also asked for as they were before a part, where they are new. */
const FEW = 2_000

/** Balances after some blocks of a part, in the order of the chain, with what moved in each. */
export interface AskedBalances {
	readonly blocks: readonly {
		readonly ref: BlockRef
		readonly balances: Balances
		/** Since the block before in this list. */
		readonly movements: ReadonlyMap<Address, Movement>
	}[]
	/** Before the part, of those without a book: a few all, of many touched ones and those with a threshold. */
	readonly openings: Balances
	/** By block. */
	readonly all: Movements
}

/** Of those that were touched, after each block that touched them; of those whose turn it is, after the last one. */
export async function askBalances(
	part: Part,
	movements: Movements,
	{ due, limited }: { readonly due: readonly Address[]; readonly limited: AddressSet },
	draft: BooksDraft,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<AskedBalances> {
	const refs = new Map(
		[...part.blocks.values(), ...part.transactions.map(({ block }) => block)].map(({ number, hash }) => [
			number,
			{ number, hash },
		]),
	)
	const last: BlockRef = { number: part.last.number, hash: part.last.hash }
	const touched = new Set([...movements.values()].flatMap((moved) => [...moved.keys()]))
	const numbers = [...movements.keys()].sort((a, b) => (a < b ? -1 : 1))
	const isEach = numbers.length <= MOST_BLOCKS_EACH
	const asked = (isEach ? numbers.filter((number) => number !== last.number) : []).map((number) => {
		const moved = movements.get(number) ?? new Map()
		return { ref: refs.get(number) ?? last, addresses: [...moved.keys()] as Address[], movements: moved }
	})
	const atLast = isEach ? (movements.get(last.number) ?? new Map()) : summed(movements)
	const ends = { ref: last, addresses: [...new Set([...due, ...touched])], movements: atLast }

	const isFresh = (address: Address) => draft.get(address) === null
	const isFew = part.span.to - part.span.from < MOST_BLOCKS_EACH && due.length <= FEW
	const others = due.filter((address) => (isFew || limited.has(address)) && !touched.has(address))
	const fresh = [...touched, ...others].filter(isFresh)
	const { parentHash } = part
	const before = parentHash === undefined ? null : { number: part.span.from - 1n, hash: parentHash }
	const [openings, ...balances] = await Promise.all([
		before === null || fresh.length === 0
			? noBalances
			: accounts.balances(fresh, before, signal).catch(unlessForgotten),
		...[...asked, ends].map(({ addresses, ref }) => accounts.balances(addresses, ref, signal)),
	])
	const blocks = [...asked, ends].map(({ ref, movements: moved }, index) => {
		return { ref, movements: moved, balances: balances[index] ?? new Map() }
	})
	return { blocks, openings, all: movements }
}

const noBalances: Balances = new Map()

/** Where the state before the part is gone, books are opened at its end. */
function unlessForgotten(error: unknown): Balances {
	if (error instanceof RpcError && error.kind === 'no-data') return noBalances
	throw error
}

export function summed(movements: Movements): ReadonlyMap<Address, Movement> {
	const sums = new Map<Address, Movement>()
	for (const moved of movements.values()) {
		for (const [address, movement] of moved) sums.set(address, plus(sums.get(address) ?? still, movement))
	}
	return sums
}
