// Blocks as large as a busy chain's, made up from their numbers: the same at every run, and none is kept.
import { createHash } from 'node:crypto'
import type { Address, Hash } from '../src/model/glossary.js'
import { seeded, watched } from './seed.js'

export const transactionsPerBlock = 25
/** Roots included. */
export const tracesPerTransaction = 4

export interface LargeRow {
	readonly from: Address
	readonly to: Address
	readonly text: string
}

export interface LargeBlock {
	readonly header: object
	readonly rows: readonly LargeRow[]
	readonly txHashes: readonly Hash[]
}

const callData = createHash('sha512').update('input').digest('hex').repeat(4)

export function blockHash(number: number): Hash {
	return digest(`block ${number}`)
}

/** One in ten blocks pays one of the 100,000 watched addresses, at the bottom of a transaction. */
export function largeBlock(number: number): LargeBlock {
	const random = seeded(number)
	const txHashes = Array.from({ length: transactionsPerBlock }, (_, index) => txHash(number, index))
	const rows: LargeRow[] = []
	for (const [index, hash] of txHashes.entries()) {
		let from = other(random())
		for (let depth = 0; depth < tracesPerTransaction; depth += 1) {
			const isWatched = number % 10 === 0 && index === 3 && depth === tracesPerTransaction - 1
			const to = isWatched ? watched(Math.floor(random() * 100_000)) : other(random())
			rows.push({ from, to, text: rowText({ number, index, hash, depth, from, to }) })
			from = to
		}
	}
	const header = {
		number: hex(number),
		hash: blockHash(number),
		parentHash: blockHash(number - 1),
		timestamp: hex(1_700_000_000 + number * 12),
		difficulty: '0x0',
		transactions: txHashes,
	}
	return { header, rows, txHashes }
}

interface Place {
	readonly number: number
	readonly index: number
	readonly hash: Hash
	readonly depth: number
	readonly from: Address
	readonly to: Address
}

/** As Erigon writes it, about 900 bytes. */
function rowText({ number, index, hash, depth, from, to }: Place): string {
	const path = Array.from({ length: depth }, () => 0)
	const subtraces = depth === tracesPerTransaction - 1 ? 0 : 1
	const input = `0x${callData}`
	return JSON.stringify({
		action: { callType: 'call', from, gas: '0x5208', input, to, value: '0x1' },
		blockHash: blockHash(number),
		blockNumber: number,
		result: { gasUsed: '0x0', output: '0x' },
		subtraces,
		traceAddress: path,
		transactionHash: hash,
		transactionPosition: index,
		type: 'call',
	})
}

export function hex(number: number): string {
	return `0x${number.toString(16)}`
}

/** Number and index stand in the hash, so that a transaction is found by it. */
function txHash(number: number, index: number): Hash {
	const place = number.toString(16).padStart(8, '0') + index.toString(16).padStart(4, '0')
	return `0x${place}${'7'.repeat(52)}`
}

export function placeOf(hash: string): { readonly number: number; readonly index: number } {
	return { number: Number.parseInt(hash.slice(2, 10), 16), index: Number.parseInt(hash.slice(10, 14), 16) }
}

function other(random: number): Address {
	return `0x${Math.floor(random * 50_000)
		.toString(16)
		.padStart(40, 'e')}`
}

function digest(text: string): Hash {
	return `0x${createHash('sha256').update(text).digest('hex')}`
}
