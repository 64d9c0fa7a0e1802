import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { isBorrowed } from '../../core/events/calls.js'
import type { CallType, FrameType } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { address, isObject, type Json, malformed, quantity, type Reading } from '../wire/wire.js'
import { readError, readInput, withReason } from './parityRows.js'
import { MOST_DEPTH, type PlacelessFrame, type Tree } from './tree.js'

/**
 * geth's callTracer: nested frames with types in capitals. It gives no block, no trace addresses and no rewards; a
 * static call has no value, a failed creation has no `to` (docs/nodes.md, "How frames are written").
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

/** A list of calls that is being visited. */
interface Level {
	readonly calls: readonly unknown[]
	/** Place in the tree of the frame that made them. */
	readonly parent: number
	readonly isInCreation: boolean
	/** The `to` of that frame, as the node says it. */
	readonly to: Address | null
	/** The contract that makes the calls. Undefined: it is not known, below a failed creation that names none. */
	readonly context: Address | undefined
	next: number
}

/** Null: the call lacks it. Undefined: it is not known (see `context`). */
type Caller = Address | null | undefined

/** Each call is checked now, and made a frame when asked for, to save memory. Throws `malformed`, early if too deep. */
export async function readCalls(raw: unknown, reading: Reading): Promise<Tree> {
	const read: Json[] = []
	const parents: number[] = []
	const callers: Caller[] = []
	const levels: Level[] = []
	const where = () => `call ${levels.map(({ next }) => next - 1).join('_') || 'root'}`
	const visit = (call: unknown, parent: number) => {
		if (!isObject(call)) throw malformed(reading, `${where()} is not an object`)
		const above = levels.at(-1)
		const from = callerOf(call, above)
		const { type, callType } = readCall(call, from, where, reading)
		read.push(call)
		parents.push(parent)
		callers.push(from)
		const calls = call.calls ?? []
		if (!Array.isArray(calls)) throw malformed(reading, `the calls under ${where()} are no list`)
		if (calls.length === 0) return
		if (levels.length === MOST_DEPTH) throw malformed(reading, `calls are nested more than ${MOST_DEPTH} deep`)
		const isInCreation = type === 'create' || type === 'create2'
		const to = address(call.to)
		const context = (isBorrowed(callType) ? (above?.context ?? from) : to) ?? undefined
		levels.push({ calls, parent: read.length - 1, isInCreation, to, context, next: 0 })
	}
	visit(raw, -1)
	if (isObject(raw)) noteOutsideTransfers(raw, reading)
	for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
		if (isSliceOver()) await nextSlice()
		if (level.next === level.calls.length) levels.pop()
		else visit(level.calls[level.next++], level.parent)
	}
	// All calls were checked and their unknown kinds logged: do not log them again.
	const quietly = { endpoint: reading.endpoint, method: reading.method, calls: reading.calls }
	const frameAt = (index: number) => readCall(read[index] as Json, callers[index], where, quietly)
	return { frames: { length: read.length, at: frameAt }, parents }
}

/**
 * Besu writes the `to` of the frame above: below a delegatecall the code instead of the contract that runs it, below a
 * creation nothing (CallTracerResultConverter.createCallBuilder; in self-destructs it names the contract). zkSync's
 * delegatecall has the contract as `to` and the contract's caller as `from`: only the frames above tell the context.
 */
function callerOf(call: Json, above: Level | undefined): Caller {
	const from = address(call.from)
	if (above === undefined || call.type === 'SELFDESTRUCT') return from
	const isAbsent = call.from === undefined || call.from === null
	return (isAbsent && above.isInCreation) || (from !== null && from === above.to) ? above.context : from
}

function readCall(raw: Json, from: Caller, where: () => string, reading: Reading): PlacelessFrame {
	if (typeof raw.type !== 'string') throw malformed(reading, `${where()} has no type`)
	const name = raw.type.length > 20 ? raw.type : raw.type.toUpperCase()
	const callType = CALLS.get(name) ?? null
	const type = OTHERS.get(name) ?? 'call'
	if (callType === null && type === 'call') reading.onUnknown?.(raw.type)
	const error = readFailure(raw, where, reading)
	const to = address(raw.to)
	const valueWei = readValue(raw.value, where, reading)
	const isCreation = type === 'create' || type === 'create2'
	const lacks = (what: string) => malformed(reading, `${where()}, ${raw.type}, lacks ${what}`)
	if (from === null && (isCreation || callType !== null)) throw lacks('from')
	if (to === null && callType !== null) throw lacks('to')
	if (to === null && isCreation && error === null) throw lacks('the address of the contract, and did not fail')
	if (valueWei === null && (callType === 'call' || isCreation)) throw malformed(reading, `${where()} says no value`)
	if (type === 'suicide' && error === null) {
		// geth's tracer before 2018 gives only the type of a self-destruct, without payee and amount.
		if (from === null) throw lacks('the contract that ended, its heir and its balance')
		// Reth and Anvil give neither heir nor value of a self-destruct without effect, as one to itself is since Cancun.
		if ((to === null) !== (valueWei === null)) throw lacks(to === null ? 'its heir' : 'its balance')
	}
	// geth leaves out an empty input.
	const input = callType === null ? undefined : readInput(raw.input ?? '0x', { from: from ?? null, to }, where, reading)
	return {
		type,
		callType,
		from: from ?? null,
		to: isCreation && error !== null ? null : to,
		valueWei: valueWei ?? 0n,
		error: input === undefined ? error : withReason(error, raw.output),
		rewardType: null,
		...(input !== undefined && { input }),
	}
}

/** zkSync gives a frame that reverted only its reason, which is empty after `revert("")`. */
function readFailure({ error, revertReason }: Json, where: () => string, reading: Reading): string | null {
	const failure = readError(error, where, reading)
	if (failure !== null || typeof revertReason !== 'string') return failure
	return revertReason === '' ? 'execution reverted' : `execution reverted: ${revertReason}`
}

/** Null where the call has no value. */
function readValue(raw: unknown, where: () => string, reading: Reading): bigint | null {
	if (raw === undefined || raw === null) return null
	const value = quantity(raw)
	if (value === null) throw malformed(reading, `${where()} has a value that is no number of 32 bytes`)
	return value
}

/**
 * Arbitrum moves coins outside of its EVM, and callTracer lists them beside the root frame: fees, deposits, retryable
 * tickets and their refunds. They are no frames and are not covered (docs/nodes.md, "What no node shows as a frame").
 * Transfers other than fees are logged once, like an unknown kind of frame.
 */
const FIELDS = ['beforeEVMTransfers', 'afterEVMTransfers'] as const
/** Every transaction has these. */
const FEES: ReadonlySet<unknown> = new Set(['feePayment', 'gasRefund', 'feeCollection'])

function noteOutsideTransfers(root: Json, { onUnknown }: Reading): void {
	if (onUnknown === undefined) return
	for (const field of FIELDS) {
		const transfers = root[field]
		if (!Array.isArray(transfers)) continue
		for (const transfer of transfers as readonly unknown[]) {
			const purpose = isObject(transfer) ? transfer.purpose : undefined
			if (!FEES.has(purpose)) onUnknown(`${field}${typeof purpose === 'string' ? `: ${purpose}` : ''}`)
		}
	}
}
