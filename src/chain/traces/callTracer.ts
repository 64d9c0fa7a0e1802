import type { CallType, Frame, FrameType } from '../../model/chain.js'
import { address, isObject, malformed, quantity, type Reading } from '../wire.js'
import { readError } from './parityRows.js'

/**
 * geth's callTracer: nested frames with types in capitals. It has no place on the chain, no trace addresses and no
 * rewards; a static call has no value, a creation that failed no `to` (dialects: section 11).
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

/** Lays a tree of calls out flat, parents before children, each with its trace address. */
export function flattenCalls(raw: unknown, reading: Reading): readonly Frame[] {
	const frames: Frame[] = []
	const stack: { readonly raw: unknown; readonly path: readonly number[] }[] = [{ raw, path: [] }]
	for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
		const { path } = next
		if (!isObject(next.raw)) throw malformed(reading, `call ${path.join('_') || 'root'} is not an object`)
		frames.push(readCall(next.raw, path, reading))
		const children = next.raw.calls ?? []
		if (!Array.isArray(children)) throw malformed(reading, `the calls under ${path.join('_') || 'root'} are no list`)
		for (let index = children.length - 1; index >= 0; index--) {
			stack.push({ raw: children[index], path: [...path, index] })
		}
	}
	return frames
}

function readCall(raw: { readonly [key: string]: unknown }, path: readonly number[], reading: Reading): Frame {
	const where = `call ${path.join('_') || 'root'}`
	if (typeof raw.type !== 'string') throw malformed(reading, `${where} has no type`)
	const name = raw.type.toUpperCase()
	const callType = CALLS.get(name) ?? null
	const type = OTHERS.get(name) ?? 'call'
	if (callType === null && type === 'call') reading.onUnknown?.(raw.type)
	const error = readError(raw.error)
	const from = address(raw.from)
	const to = address(raw.to)
	const isCreation = type === 'create' || type === 'create2'
	if (from === null && (isCreation || callType !== null)) throw malformed(reading, `${where} lacks from`)
	if (to === null && callType !== null) throw malformed(reading, `${where} lacks to`)
	return {
		type,
		callType,
		from,
		to: isCreation && error !== null ? null : to,
		valueWei: readValue(raw.value, callType === 'call' || isCreation, where, reading),
		traceAddress: path,
		error,
		rewardType: null,
	}
}

function readValue(raw: unknown, mustSay: boolean, where: string, reading: Reading): bigint {
	if (raw === undefined || raw === null) {
		if (mustSay) throw malformed(reading, `${where} says no value`)
		return 0n
	}
	const value = quantity(raw)
	if (value === null) throw malformed(reading, `${where} has a value that is no number`)
	return value
}
