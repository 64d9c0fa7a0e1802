import { type Movement, type Movements, plus, still } from '../../core/ledger/books.js'
import { RpcError } from '../../errors.js'
import type { Accounts, Balances } from '../../model/books.js'
import type { AddressSet, BlockRef, Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { BooksDraft } from '../booksDraft.js'

/** If at most this many blocks of a part touch watches, each of those blocks is closed; otherwise only the last one. */
const MOST_BLOCKS_EACH = 16

/** If at most this many watches are due, the balance before the part is also asked for where a book is missing. */
const FEW = 2_000

/** Balances after some blocks of a part, in the order of the chain, with the movements up to each. */
export interface AskedBalances {
	readonly blocks: readonly {
		readonly ref: BlockRef
		readonly balances: Balances
		/** Movements since the previous block in this list. */
		readonly movements: ReadonlyMap<Address, Movement>
	}[]
	/** Before the part, of addresses without a book: touched ones, and due ones if few or with a threshold. */
	readonly openings: Balances
	/** All movements of the part, by block. */
	readonly all: Movements
}

export interface Closing {
	readonly movements: Movements
	readonly draft: BooksDraft
	/** Watches to close at blocks of the part, beside those that move there. */
	readonly closeAt: ReadonlyMap<bigint, ReadonlySet<Address>>
	readonly due: readonly Address[]
	/** Addresses whose balance has a threshold. */
	readonly limited: AddressSet
	/** The watches that have books. */
	readonly kept: AddressSet
}

/** Balances of touched watches after each touching block, and of due watches after the last block. */
export async function askBalances(
	part: Part,
	{ movements, draft, due, limited, closeAt, kept }: Closing,
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
	const announced = new Map([...closeAt].map(([number, all]) => [number, [...all].filter((one) => kept.has(one))]))
	const touched = new Set([
		...[...movements.values()].flatMap((moved) => [...moved.keys()]),
		...[...announced.values()].flat(),
	])
	const numbers = [...movements.keys()].sort((a, b) => (a < b ? -1 : 1))
	const isEach = numbers.length <= MOST_BLOCKS_EACH
	const asked: { ref: BlockRef; addresses: readonly Address[]; movements: ReadonlyMap<Address, Movement> }[] = []
	/** What moved since the address was last asked for. */
	const pending = new Map<Address, Movement>()
	for (const number of [...new Set([...numbers, ...announced.keys()])].sort((a, b) => (a < b ? -1 : 1))) {
		const moved = movements.get(number) ?? new Map<Address, Movement>()
		for (const [address, movement] of moved) pending.set(address, plus(pending.get(address) ?? still, movement))
		const own = announced.get(number) ?? []
		const addresses = isEach ? [...new Set([...moved.keys(), ...own])] : own
		if (number === last.number || addresses.length === 0) continue
		const sums = new Map(addresses.map((address) => [address, pending.get(address) ?? still]))
		for (const address of addresses) pending.delete(address)
		asked.push({ ref: refs.get(number) ?? last, addresses, movements: sums })
	}
	const ends = { ref: last, addresses: [...new Set([...due, ...touched])], movements: pending }

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

/** If the state before the part was pruned, books are opened at its end. */
function unlessForgotten(error: unknown): Balances {
	if (error instanceof RpcError && error.kind === 'no-data') return noBalances
	throw error
}
