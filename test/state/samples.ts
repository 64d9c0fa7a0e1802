/** Small true-looking pieces of state. */

import { expect } from 'vitest'
import type { Alert, AlertData } from '../../src/model/alert.js'
import type { Book } from '../../src/model/books.js'
import type { BlockRef } from '../../src/model/chain.js'
import type { Contract } from '../../src/model/contract.js'
import type { Delivery } from '../../src/model/delivery.js'
import type { Address } from '../../src/model/glossary.js'
import type { Announcement, Commit, Gap, NetworkState } from '../../src/model/state.js'
import type { Trouble } from '../../src/model/trouble.js'
import type { Coverage } from '../../src/model/watch.js'

/** Coverage and books are the same whatever map they are in. */
expect.addEqualityTesters([
	function (one, other) {
		if (!isPacked(one) && !isPacked(other)) return undefined
		return this.equals(asMap(one), asMap(other))
	},
])

function isPacked(value: unknown): value is ReadonlyMap<Address, Coverage> {
	if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false
	return 'copy' in value || 'afterSteps' in value
}

function asMap(value: unknown): unknown {
	return isPacked(value) ? new Map(value) : value
}

/** When a test's clock begins. */
export const START_MS = 1_790_000_000_000

export function blockOf(number: number): BlockRef {
	return { number: BigInt(number), hash: `0x${number.toString(16).padStart(64, 'b')}` }
}

export function addressOf(number: number): Address {
	return `0x${number.toString(16).padStart(40, '0')}`
}

export function coverageOf(from: number, rest: Partial<Coverage> = {}): Coverage {
	return { since: BigInt(from), from: BigInt(from), leftAt: null, missed: [], ...rest }
}

export function commitOf(rest: Partial<Commit>): Commit {
	return { network: 'ethereum', chainId: 1, ...rest }
}

export function contractOf(since: number, rest: Partial<Contract> = {}): Contract {
	const block = BigInt(since)
	return { since: block, readAt: block, codeHash: blockOf(since).hash, isSafe: false, values: {}, ...rest }
}

export function gapOf(number: number, rest: Partial<Gap> = {}): Gap {
	const block = blockOf(number)
	const facts = { tries: 3, sinceMs: START_MS, isAfterGood: true, openedAtMs: START_MS + 60_000, reason: 'it fails' }
	return { block, addresses: null, ...facts, ...rest }
}

export function announcementOf(id: string, block: number, revision = 0): Announcement {
	const status = revision % 2 === 0 ? 'announced' : 'retracted'
	return { id, block: blockOf(block), txHash: blockOf(7).hash, alerts: [alertOf(id)], status, revision }
}

export function deliveryOf(id: string, rest: Partial<Delivery> = {}): Delivery {
	return {
		id,
		receiver: 'hook',
		recipient: null,
		message: {
			type: 'alert.transfer',
			timestamp: '2026-11-20T10:00:00.000Z',
			data: { ...alertOf(id).data, deliveryId: id },
		},
		answers: null,
		createdAtMs: 1_789_999_000_000,
		status: 'pending',
		attempts: 0,
		nextAttemptAtMs: 1_789_999_000_000,
		lastError: null,
		...rest,
	}
}

export function alertOf(id: string): Alert {
	const data: AlertData = {
		id,
		network: 'ethereum',
		chainId: 1,
		blockNumber: 19_000_000,
		blockHash: blockOf(19_000_000).hash,
		blockTimestamp: '2026-11-20T09:59:48.000Z',
		txHash: blockOf(7).hash,
		txIndex: 3,
		traceAddress: [0, 1, 2],
		kind: 'transfer',
		frameType: 'call',
		category: 'internal',
		from: '0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
		to: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
		valueWei: '1500000000000000000000001',
		value: '1500000.000000000000000001',
		asset: 'ETH',
		watch: {
			address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
			label: 'Tresor “Ä” \u2028 🐋',
			tags: ['cold', '__proto__'],
			watchlist: 'treasury.yaml',
		},
		direction: 'in',
		finality: 'latest',
		detectedAt: '2026-11-20T10:00:00.000Z',
		lagSeconds: 12,
		late: false,
		links: {
			tx: `https://explorer.example/tx/${blockOf(7).hash}`,
			from: 'https://explorer.example/address/0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
			to: 'https://explorer.example/address/0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
			block: 'https://explorer.example/block/19000000',
		},
	}
	return { type: 'alert.transfer', data, receivers: ['hook'] }
}

export function troubleOf(receiver: string): Trouble {
	return {
		kind: 'undelivered',
		...{ receiver, recipient: null, state: 'parked', announced: true },
		...{ sinceMs: START_MS, receivers: ['hook'] },
	}
}

/** A state with its books in a plain map, wherever they are kept. */
export async function readState<S extends NetworkState | null>(state: S): Promise<S> {
	if (state === null) return state
	const { books } = state
	const all = new Map<Address, Book>()
	for (let from = '', isEnd = false; !isEnd; isEnd = from === '') {
		const { addresses = books.keys(), next = '' } = books.some?.(from, 1_000) ?? {}
		const some = [...addresses]
		for (const address of some) all.set(address, books.get(address) as Book)
		from = next
	}
	if (books.size !== all.size) throw new Error(`${books.size} books are counted, and ${all.size} found`)
	return { ...state, books: all }
}
