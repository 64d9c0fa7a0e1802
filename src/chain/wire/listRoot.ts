/**
 * The root by which a header names a list: of a Merkle Patricia tree whose keys are the places in the list (Yellow
 * Paper, appendix D). If the root differs, the list is incomplete or wrong.
 */

import { keccak_256 } from '@noble/hashes/sha3.js'
import * as Rlp from 'ox/Rlp'
import { inSteps } from '../../base/waits/slices.js'
import { finish, type Steps } from '../../core/steps.js'
import type { Hash as HashText } from '../../model/glossary.js'
import { bytesOf } from './rlpWords.js'

/** keccak256 of the RLP of nothing: the root of a block without transactions. */
export const emptyRoot: HashText = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Of the encoded entries in their order. */
export function listRoot(values: readonly Uint8Array[]): HashText {
	return finish(rootSteps(values))
}

/** The same in time slices, for many or large entries: an attacker can fill a receipt with megabytes. */
export function listRootInSlices(values: readonly Uint8Array[]): Promise<HashText> {
	return inSteps(rootSteps(values))
}

/** A step is 25 kB that were hashed, about a millisecond of work. */
function* rootSteps(values: readonly Uint8Array[]): Steps<HashText> {
	const entries = values
		.map((value, index): Entry => ({ path: nibblesOf(Rlp.fromBytes(bytesOf(BigInt(index)))), value }))
		.sort((one, other) => Buffer.compare(one.path, other.path))
	if (entries.length === 0) return emptyRoot
	const counter = { bytes: 0 }
	const hashed = yield* hashOf(Rlp.fromBytes(yield* nodeOf(entries, 0, counter)), counter)
	return `0x${Buffer.from(hashed).toString('hex')}`
}

interface Counter {
	/** Bytes hashed since the last yield. */
	bytes: number
}

const STEP_BYTES = 25_000

function* hashOf(bytes: Uint8Array, counter: Counter): Steps<Uint8Array> {
	const hash = keccak_256.create()
	for (let at = 0; at < bytes.length; ) {
		const piece = bytes.subarray(at, at + STEP_BYTES - counter.bytes)
		hash.update(piece)
		at += piece.length
		counter.bytes += piece.length
		if (counter.bytes < STEP_BYTES) continue
		counter.bytes = 0
		yield
	}
	return hash.digest()
}

interface Entry {
	/** One nibble per byte. */
	readonly path: Uint8Array
	readonly value: Uint8Array
}

type Item = Uint8Array | Item[]

const nothing = new Uint8Array()

/** All entries share the first `depth` nibbles; at least one. */
function* nodeOf(entries: readonly Entry[], depth: number, counter: Counter): Steps<Item[]> {
	const [first] = entries
	const last = entries.at(-1)
	if (first === undefined || last === undefined) throw new RangeError('a node of no entries')
	if (entries.length === 1) return [compact(first.path.subarray(depth), true), first.value]
	// They are sorted: nibbles shared by the first and the last are shared by all.
	let shared = depth
	while (shared < first.path.length && first.path[shared] === last.path[shared]) shared++
	if (shared > depth) {
		const below = yield* nodeOf(entries, shared, counter)
		return [compact(first.path.subarray(depth, shared), false), yield* referenceTo(below, counter)]
	}
	const branches: Item[] = []
	for (let nibble = 0; nibble < 16; nibble++) {
		const below = entries.filter(({ path }) => path[depth] === nibble)
		branches.push(below.length === 0 ? nothing : yield* referenceTo(yield* nodeOf(below, depth + 1, counter), counter))
	}
	// No place's key is a prefix of another.
	return [...branches, nothing]
}

/** Nodes below 32 bytes are embedded, others are named by their hash. */
function* referenceTo(node: Item[], counter: Counter): Steps<Item> {
	const bytes = Rlp.fromBytes(node)
	return bytes.length < 32 ? node : yield* hashOf(bytes, counter)
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
