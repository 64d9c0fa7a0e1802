import { cutInput, isInputRead, longestInput } from '../../core/events/inputs.js'
import type { CallType, Frame, FrameType } from '../../model/chain.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import { revertReason } from '../wire/revertReason.js'
import {
	address,
	hash,
	isObject,
	type Json,
	malformed,
	nameOf,
	quantity,
	type Reading,
	smallNumber,
} from '../wire/wire.js'
import { MOST_DEPTH, type PlacelessFrame } from './tree.js'

/**
 * Rows of `trace_filter`, `trace_block`, `trace_transaction` and of geth's flatCallTracer, as Frames.
 *
 * Only `error` shows that a frame failed: `result` may be kept, null or absent on a failed frame, and a failed creation
 * may still name an address (docs/nodes.md, "How frames are written").
 */

/** A row whose form was checked but that is not decoded yet: cheap to match against addresses. */
export interface RawRow {
	readonly raw: Json
	readonly action: Json
	readonly type: string
}

/** A frame, which many rows may share, and its place in the transaction. */
export interface Placed {
	readonly frame: PlacelessFrame
	/** Empty for a reward. */
	readonly traceAddress: readonly number[]
	/** The number of children by the node's own count; null if it gives none. */
	readonly subtraces: number | null
}

export interface Row extends Placed {
	readonly blockNumber: bigint
	readonly blockHash: Hash
	/** Null for a reward. */
	readonly txHash: Hash | null
	readonly txIndex: number | null
}

export function openRow(raw: unknown, index: number, reading: Reading): RawRow {
	const row = checkForm(raw, index, reading)
	return { raw: row, action: row.action, type: row.type }
}

/** A row's frame with its place. */
export function frameOf({ frame, traceAddress }: Placed): Frame {
	return { ...frame, traceAddress }
}

/** A row with a type and an action; its other fields are not checked. */
export type FormedRow = Json & { readonly type: string; readonly action: Json }

export function checkForm(raw: unknown, index: number, reading: Reading): FormedRow {
	if (!isObject(raw)) throw malformed(reading, `row ${index} is not an object`)
	const { type, action, error } = raw
	// Erigon before August 2026 hides failures as {"error": {…}} among the rows (docs/nodes.md, "Nodes": Erigon).
	if (typeof error === 'object' && error !== null) throw malformed(reading, `row ${index} is an error, not a trace`)
	if (typeof type !== 'string') throw malformed(reading, `row ${index} has no type`)
	if (!isObject(action)) throw malformed(reading, `row ${index} has no action`)
	return raw as FormedRow
}

/** Reads a row with its place on the chain. */
export function readRow(row: RawRow, index: number, reading: Reading): Row {
	const { raw } = row
	const blockNumber = quantity(raw.blockNumber)
	const blockHash = hash(raw.blockHash)
	if (blockNumber === null || blockHash === null) throw malformed(reading, `row ${index} lacks its block`)
	const { frame, traceAddress, subtraces } = readPlaced(row, index, reading)
	const txHash = hash(raw.transactionHash)
	if (frame.type === 'reward') {
		return { blockNumber, blockHash, txHash: null, txIndex: null, frame, traceAddress, subtraces: null }
	}
	if (txHash === null) throw malformed(reading, `row ${index} lacks its transaction`)
	const txIndex = smallNumber(raw.transactionPosition)
	return { blockNumber, blockHash, txHash, txIndex, frame, traceAddress, subtraces }
}

/** The number of children by the row's own count; null if it gives none. */
export function readSubtraces({ subtraces }: Json): number | null {
	return subtraces === undefined ? null : smallNumber(subtraces)
}

/** Reads a row's frame and its place in the transaction. */
export function readPlaced(row: RawRow, index: number, reading: Reading): Placed {
	const frame = readFrame(row, index, reading)
	const traceAddress = frame.type === 'reward' ? [] : readTraceAddress(row.raw.traceAddress, index, reading)
	return { frame, traceAddress, subtraces: readSubtraces(row.raw) }
}

/** Reads a row's frame, without its place. */
function readFrame(row: RawRow, index: number, reading: Reading): PlacelessFrame {
	const { raw, action } = row
	const where = () => `row ${index}`
	const error = readError(raw.error, where, reading)
	const { from, to } = partiesOf(row)
	const read = (type: FrameType, callType: CallType | null, valueWei: bigint): PlacelessFrame => ({
		type,
		callType,
		from,
		to,
		valueWei,
		error,
		rewardType: type === 'reward' ? rewardTypeOf(action.rewardType) : null,
	})
	switch (row.type) {
		case 'call': {
			if (from === null || to === null) throw malformed(reading, `row ${index}: a call lacks from or to`)
			const callType = readCallType(action.callType, reading)
			const valueWei = amountOf(action.value, callType !== 'call', index, reading)
			// Without a call type, it is unknown whether the value moved; taken for a delegate call, a payment would be lost.
			if (valueWei > 0n && isUnsaid(action.callType))
				throw malformed(reading, `row ${index}: a call of ${valueWei} wei says no call type`)
			const input = readInput(action.input, { from, to }, where, reading)
			const frame = read('call', callType, valueWei)
			return input === undefined ? frame : { ...frame, input, error: withReason(error, outputOf(raw)) }
		}
		case 'create':
		case 'create2': {
			if (from === null) throw malformed(reading, `row ${index}: a creation lacks from`)
			if (to === null && error === null) {
				throw malformed(reading, `row ${index}: a creation that did not fail lacks the contract's address`)
			}
			const method = action.creationMethod
			const type = row.type === 'create2' || method === 'create2' ? 'create2' : 'create'
			return read(type, null, amountOf(action.value, false, index, reading))
		}
		case 'suicide':
		case 'selfdestruct':
			if (from === null || to === null) {
				throw malformed(reading, `row ${index}: a self-destruct lacks its address or its heir`)
			}
			return read('suicide', null, amountOf(action.balance ?? action.value, false, index, reading))
		case 'reward':
			if (to === null) throw malformed(reading, `row ${index}: a reward lacks its author`)
			return read('reward', null, rewardOf(action.value, index, reading))
		default:
			// Kept, because it may be the failed parent of others; without a call type it moves nothing itself.
			reading.onUnknown?.(row.type)
			return read('call', null, quantity(action.value) ?? 0n)
	}
}

/** By one rule for all nodes: from/to, creator/created, address/heir, author. A failed creation created nothing. */
function partiesOf({ raw, action, type }: RawRow): { from: Address | null; to: Address | null } {
	switch (type) {
		case 'create':
		case 'create2': {
			const result = raw.result
			const created = isSuccess(raw.error) && isObject(result) ? address(result.address) : null
			return { from: address(action.from), to: created }
		}
		case 'suicide':
		case 'selfdestruct':
			return {
				from: address(action.address ?? action.from),
				to: address(action.refundAddress ?? action.to),
			}
		case 'reward':
			return { from: null, to: address(action.author) }
		default:
			return { from: address(action.from), to: address(action.to) }
	}
}

/** Any text that is not empty is a failure, whatever it says. Throws `malformed` for a value that is no text. */
export function readError(raw: unknown, where: () => string, reading: Reading): string | null {
	if (isSuccess(raw)) return null
	if (typeof raw !== 'string')
		throw malformed(reading, `${where()} has ${nameOf(raw)} in the place of its error's text`)
	return raw
}

/** Undefined where no kind reads it. Throws `malformed`. */
export function readInput(
	raw: unknown,
	{ from, to }: Pick<PlacelessFrame, 'from' | 'to'>,
	where: () => string,
	reading: Reading,
): string | undefined {
	if (!isInputRead(from, to, reading.calls)) return undefined
	if (typeof raw !== 'string') throw malformed(reading, `${where()} lacks its input`)
	return cutInput(raw, longestInput).toLowerCase()
}

function outputOf({ result }: Json): unknown {
	return isObject(result) ? result.output : undefined
}

/** The node's words with what the call returned when it failed, where the answer says it. */
export function withReason(error: string | null, output: unknown): string | null {
	if (error === null || typeof output !== 'string' || !/^0x[0-9a-f]{8,8192}$/i.test(output)) return error
	const reason = revertReason(output.toLowerCase() as Hex)
	return reason === null ? error : `${error}: ${reason}`
}

function isSuccess(error: unknown): boolean {
	return error === undefined || error === null || error === '' || error === false
}

const callTypes: readonly CallType[] = ['call', 'callcode', 'delegatecall', 'staticcall']

/** Null where the call type is missing or unknown: a fork may bring new types. */
function readCallType(raw: unknown, reading: Reading): CallType | null {
	const isText = typeof raw === 'string'
	if (!isText && !isUnsaid(raw)) throw malformed(reading, 'a call type is no text')
	const name = isText && raw.length <= 20 ? raw.toLowerCase() : raw
	const known = callTypes.find((one) => one === name) ?? null
	if (known === null) reading.onUnknown?.(`call of type ${isText ? raw : nameOf(raw)}`)
	return known
}

function isUnsaid(callType: unknown): boolean {
	return callType === undefined || callType === null || callType === ''
}

function rewardTypeOf(raw: unknown): string {
	return typeof raw === 'string' ? raw : 'block'
}

/** BSC has written its rewards as bare JSON numbers, which are above the safe integers but still exact. */
function rewardOf(raw: unknown, index: number, reading: Reading): bigint {
	if (typeof raw === 'number' && Number.isInteger(raw) && raw >= 0 && raw < 2 ** 256) return BigInt(raw)
	return amountOf(raw, false, index, reading)
}

function amountOf(raw: unknown, mayLack: boolean, index: number, reading: Reading): bigint {
	if (raw === undefined || raw === null) {
		if (mayLack) return 0n
		throw malformed(reading, `row ${index} says no value`)
	}
	const value = quantity(raw)
	if (value === null) throw malformed(reading, `row ${index} has a value that is no number of 32 bytes`)
	return value
}

function readTraceAddress(raw: unknown, index: number, reading: Reading): readonly number[] {
	if (!Array.isArray(raw)) throw malformed(reading, `row ${index} has no traceAddress`)
	if (raw.length > MOST_DEPTH) throw malformed(reading, `row ${index} stands more than ${MOST_DEPTH} frames deep`)
	return raw.map((step: unknown) => {
		const number = smallNumber(step)
		if (number === null) throw malformed(reading, `row ${index} has a traceAddress that is no list of numbers`)
		return number
	})
}
