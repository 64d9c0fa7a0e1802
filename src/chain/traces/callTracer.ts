import type { TimeSlices } from '../../base/timeSlices.js'
import type { CallType, FrameType } from '../../model/chain.js'
import { address, isObject, type Json, malformed, quantity, type Reading } from '../wire.js'
import { noteOutsideTransfers } from './outsideTransfers.js'
import { readError } from './parityRows.js'
import { MOST_DEPTH, type PlacelessFrame, type Tree } from './tree.js'

/**
 * geth's callTracer: nested frames with types in capitals. It has no place on the chain, no trace addresses and no
 * rewards; a static call has no value, a creation that failed no `to` (docs/nodes.md, "How frames are written").
 */

const CALLS: ReadonlyMap<string, CallType> = new Map([
	['CALL', 'call'],
	['CALLCODE', 'callcode'],
	['DELEGATECALL', 'delegatecall'],
	['STATICCALL', 'staticcall'],
])
const OTHERS: ReadonlyMap<string, FrameType> = new Map([
	['CREATE', 'create'],
	['CREATE2', 'create2'],
	['SELFDESTRUCT', 'suicide'],
	['SUICIDE', 'suicide'],
])

/** A list of calls under way. */
interface Level {
	readonly calls: readonly unknown[]
	/** Place in the tree of the frame that made them. */
	readonly parent: number
	next: number
}

/**
 * Reads a tree of calls. Each is looked at, and made a frame whenever it is asked for: to keep a million frames takes
 * as much memory as the calls. Throws `malformed`; a tree deeper than any of the EVM is refused before all of it was
 * read.
 */
export async function readCalls(raw: unknown, slices: TimeSlices, reading: Reading): Promise<Tree> {
	const read: Json[] = []
	const parents: number[] = []
	const levels: Level[] = []
	const where = () => `call ${levels.map(({ next }) => next - 1).join('_') || 'root'}`
	const visit = (call: unknown, parent: number) => {
		if (!isObject(call)) throw malformed(reading, `${where()} is not an object`)
		readCall(call, where, reading)
		read.push(call)
		parents.push(parent)
		const calls = call.calls ?? []
		if (!Array.isArray(calls)) throw malformed(reading, `the calls under ${where()} are no list`)
		if (calls.length === 0) return
		if (levels.length === MOST_DEPTH) throw malformed(reading, `calls are nested more than ${MOST_DEPTH} deep`)
		levels.push({ calls, parent: read.length - 1, next: 0 })
	}
	visit(raw, -1)
	if (isObject(raw)) noteOutsideTransfers(raw, reading)
	for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
		if (slices.isOver()) await slices.next()
		if (level.next === level.calls.length) levels.pop()
		else visit(level.calls[level.next++], level.parent)
	}
	// They were all found to be right, and what there is to say of them was said.
	const quietly = { endpoint: reading.endpoint, method: reading.method }
	const frameAt = (index: number): PlacelessFrame => readCall(read[index] as Json, where, quietly)
	return { frames: { length: read.length, at: frameAt }, parents }
}

function readCall(raw: Json, where: () => string, reading: Reading): PlacelessFrame {
	if (typeof raw.type !== 'string') throw malformed(reading, `${where()} has no type`)
	const name = raw.type.length > 20 ? raw.type : raw.type.toUpperCase()
	const callType = CALLS.get(name) ?? null
	const type = OTHERS.get(name) ?? 'call'
	if (callType === null && type === 'call') reading.onUnknown?.(raw.type)
	const error = readError(raw.error, where, reading)
	const from = address(raw.from)
	const to = address(raw.to)
	const valueWei = readValue(raw.value, where, reading)
	const isCreation = type === 'create' || type === 'create2'
	const lacks = (what: string) => malformed(reading, `${where()}, ${raw.type}, lacks ${what}`)
	if (from === null && (isCreation || callType !== null)) throw lacks('from')
	if (to === null && callType !== null) throw lacks('to')
	if (to === null && isCreation && error === null) throw lacks('the address of the contract, and did not fail')
	if (valueWei === null && (callType === 'call' || isCreation)) throw malformed(reading, `${where()} says no value`)
	if (type === 'suicide' && error === null) {
		// geth's tracer of before 2018 tells a self-destruct by its type alone: who was paid, and how much, is not there.
		if (from === null) throw lacks('the contract that ended, its heir and its balance')
		// Reth and Anvil name neither heir nor value of one that did nothing, as one to itself does since Cancun.
		if ((to === null) !== (valueWei === null)) throw lacks(to === null ? 'its heir' : 'its balance')
	}
	return {
		type,
		callType,
		from,
		to: isCreation && error !== null ? null : to,
		valueWei: valueWei ?? 0n,
		error,
		rewardType: null,
	}
}

/** Null where none is said. */
function readValue(raw: unknown, where: () => string, reading: Reading): bigint | null {
	if (raw === undefined || raw === null) return null
	const value = quantity(raw)
	if (value === null) throw malformed(reading, `${where()} has a value that is no number of 32 bytes`)
	return value
}
