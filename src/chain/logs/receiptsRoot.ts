/**
 * The root that a header names its receipts by: of a Merkle Patricia tree whose keys are their places (yellow paper,
 * appendix D; EIP-2718 for typed receipts). Who cannot make the same root has not been given all receipts, or not as
 * they are.
 */

import * as Hash from 'ox/Hash'
import * as Rlp from 'ox/Rlp'
import type { Turns } from '../../base/timeSlices.js'
import type { Hash as HashText, Hex } from '../../model/glossary.js'
import { hash, hexBytes, type Json, quantity } from '../wire.js'
import type { Log, LogReceipt } from './wireLogs.js'

/** keccak256 of the RLP of nothing: the root of a block without transactions. */
export const emptyRoot: HashText = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Null where a receipt lacks something that its bytes are made of. `bytesInstead`: what stands for one instead. */
export async function receiptsRootOf(
	receipts: readonly LogReceipt[],
	turns: Turns,
	bytesInstead: (receipt: LogReceipt) => Uint8Array | null = () => null,
): Promise<HashText | null> {
	const entries: Entry[] = []
	for (const [index, receipt] of receipts.entries()) {
		const value = bytesInstead(receipt) ?? encodeReceipt(receipt)
		if (value === null) return null
		entries.push({ path: nibblesOf(Rlp.fromBytes(bytesOf(BigInt(index)))), value })
		if (turns.isOver()) await turns.next()
	}
	entries.sort((one, other) => Buffer.compare(one.path, other.path))
	return entries.length === 0 ? emptyRoot : Hash.keccak256(Rlp.fromBytes(nodeOf(entries, 0)), { as: 'Hex' })
}

/**
 * Whether the receipts of a block make its header's root; null where a receipt lacks something that its bytes are made
 * of. `hasStateSync`: the last may be Polygon's state sync, which comes from nobody and costs no gas, and which Bor
 * leaves out of the root, or has nothing but its type of there (docs/nodes.md, "Roots of receipts").
 */
export async function fitsRoot(
	receipts: readonly LogReceipt[],
	{ root, hasStateSync }: { readonly root: HashText; readonly hasStateSync: boolean },
	turns: Turns,
): Promise<boolean | null> {
	const all = await receiptsRootOf(receipts, turns)
	const last = receipts.at(-1)
	if (all === null) return null
	if (all === root || !hasStateSync || last === undefined || !isStateSync(last)) return all === root
	if ((await receiptsRootOf(receipts.slice(0, -1), turns)) === root) return true
	return (await receiptsRootOf(receipts, turns, (receipt) => (receipt === last ? STATE_SYNC : null))) === root
}

const STATE_SYNC = Uint8Array.of(0x7f)

function isStateSync({ sender, raw }: LogReceipt): boolean {
	return sender !== null && BigInt(sender) === 0n && quantity(raw.gasUsed) === 0n
}

interface Entry {
	/** A nibble a byte. */
	readonly path: Uint8Array
	readonly value: Uint8Array
}

type Item = Uint8Array | Item[]

const nothing = new Uint8Array()

/** All entries share the first `depth` nibbles; at least one. */
function nodeOf(entries: readonly Entry[], depth: number): Item[] {
	const [first] = entries
	const last = entries.at(-1)
	if (first === undefined || last === undefined) throw new RangeError('a node of no entries')
	if (entries.length === 1) return [compact(first.path.subarray(depth), true), first.value]
	// They are sorted: what the first and the last share all share.
	let shared = depth
	while (shared < first.path.length && first.path[shared] === last.path[shared]) shared++
	if (shared > depth) return [compact(first.path.subarray(depth, shared), false), referenceTo(nodeOf(entries, shared))]
	const branches: Item[] = []
	for (let nibble = 0; nibble < 16; nibble++) {
		const below = entries.filter(({ path }) => path[depth] === nibble)
		branches.push(below.length === 0 ? nothing : referenceTo(nodeOf(below, depth + 1)))
	}
	// No key of a place is the beginning of another.
	return [...branches, nothing]
}

/** Small nodes stand where they are, others by their hash. */
function referenceTo(node: Item[]): Item {
	const bytes = Rlp.fromBytes(node)
	return bytes.length < 32 ? node : Hash.keccak256(bytes, { as: 'Bytes' })
}

/** Hex prefix encoding: whether the path is odd, and whether it ends in a leaf. */
function compact(path: Uint8Array, isLeaf: boolean): Uint8Array {
	const isOdd = path.length % 2 === 1
	const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
	const nibbles = isOdd ? [flag, ...path] : [flag, 0, ...path]
	return Uint8Array.from(
		{ length: nibbles.length / 2 },
		(_, at) => (nibbles[2 * at] ?? 0) * 16 + (nibbles[2 * at + 1] ?? 0),
	)
}

function nibblesOf(bytes: Uint8Array): Uint8Array {
	return Uint8Array.from([...bytes].flatMap((byte) => [byte >> 4, byte & 15]))
}

/** Of deposits of the OP stack: their receipts have two fields more since Canyon. */
const DEPOSIT = 126n
/** Of transactions of Celo whose fee is paid in a token (CIP-64): their receipts have the base fee in that token. */
const CELO_FEE = 123n
/** Of Arbitrum before Nitro: no root was made of its receipts in this way. */
const ARBITRUM_CLASSIC = 120n

function encodeReceipt({ raw, logs }: LogReceipt): Uint8Array | null {
	const type = raw.type === undefined || raw.type === null ? 0n : quantity(raw.type)
	const outcome = outcomeOf(raw)
	const gas = quantity(raw.cumulativeGasUsed)
	const bloom = hexBytes(raw.logsBloom, 256)
	if (type === null || type > 127n || type === ARBITRUM_CLASSIC || outcome === null || gas === null || bloom === null)
		return null
	const more: Hex[] = []
	if (type === DEPOSIT && raw.depositReceiptVersion !== undefined && raw.depositReceiptVersion !== null) {
		for (const field of [raw.depositNonce, raw.depositReceiptVersion]) {
			const number = quantity(field)
			if (number === null) return null
			more.push(shortHex(number))
		}
	}
	if (type === CELO_FEE && raw.baseFee !== undefined && raw.baseFee !== null) {
		const number = quantity(raw.baseFee)
		if (number === null) return null
		more.push(shortHex(number))
	}
	const fields = Rlp.fromHex([outcome, shortHex(gas), bloom, logs.map(logWords), ...more], { as: 'Bytes' })
	return type === 0n ? fields : Buffer.concat([bytesOf(type), fields])
}

type Words = Hex | Words[]

/** A state root before Byzantium, since then the status. */
function outcomeOf({ root, status }: Json): Hex | null {
	const state = hash(root)
	if (state !== null) return state
	const number = quantity(status)
	return number === null ? null : shortHex(number)
}

function logWords({ address, topics, data }: Log): Words {
	return [address, [...topics], data]
}

/** The fewest bytes, big end first; none for 0. */
function shortHex(number: bigint): Hex {
	if (number === 0n) return '0x'
	const digits = number.toString(16)
	return digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`
}

function bytesOf(number: bigint): Uint8Array {
	return Buffer.from(shortHex(number).slice(2), 'hex')
}
