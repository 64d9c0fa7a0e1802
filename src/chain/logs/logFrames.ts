/** Finds the frame that wrote each log of a transaction, by geth's callTracer. */

import { RpcError } from '../../errors.js'
import type { Rpc } from '../rpc/rpc.js'
import { isLeftOut } from '../traces/numbering.js'
import { address, hash, isObject, type Json, quantity } from '../wire/wire.js'
import type { Log } from './proofs/wireLogs.js'

/** Deeper than the EVM goes. */
const DEEPEST = 1_100

/** Path of the frame of each log, in order; null if the node does not tell, or differs. Throws only if aborted. */
export async function readLogFrames(
	rpc: Rpc,
	txHash: string,
	logs: readonly Log[],
	signal: AbortSignal,
): Promise<readonly (readonly number[])[] | null> {
	if (logs.length === 0) return null
	const params = [txHash, { tracer: 'callTracer', tracerConfig: { withLog: true } }]
	try {
		const root = await rpc.call('debug_traceTransaction', params, signal)
		return isObject(root) ? framesOf(root, logs) : null
	} catch (error) {
		signal.throwIfAborted()
		if (error instanceof RpcError) return null
		throw error
	}
}

/** `position` of a log: how many calls its frame had made before it. Failed frames have no logs. */
function framesOf(root: Json, logs: readonly Log[]): readonly (readonly number[])[] | null {
	const paths: (readonly number[])[] = []
	let isSame = true
	visit(root, [])
	return isSame && paths.length === logs.length ? paths : null

	function visit(frame: Json, path: readonly number[]): void {
		if (path.length > DEEPEST) isSame = false
		const calls = Array.isArray(frame.calls) ? (frame.calls as unknown[]) : []
		const own = typeof frame.error === 'string' || !Array.isArray(frame.logs) ? [] : (frame.logs as unknown[])
		let next = 0
		let step = 0
		for (let made = 0; made <= calls.length && isSame; made++) {
			for (; next < own.length && positionOf(own[next]) <= made; next++) note(own[next], path)
			const call = calls[made]
			if (!isObject(call) || typeof frame.error === 'string') continue
			// A precompiled contract makes no calls and writes no logs.
			if (!isUnnumbered(call)) visit(call, [...path, step++])
		}
		for (; next < own.length && isSame; next++) note(own[next], path)
	}

	function note(raw: unknown, path: readonly number[]): void {
		const log = logs[paths.length]
		isSame &&= isObject(raw) && log !== undefined && isLog(raw, log)
		paths.push(path)
	}
}

/** Left out of the numbering, as for all other frames. */
function isUnnumbered({ type, to, value }: Json): boolean {
	if (typeof type !== 'string' || !/CALL/i.test(type)) return false
	const facts = { from: null, error: null, rewardType: null, valueWei: quantity(value) ?? 0n, to: address(to) }
	return isLeftOut({ type: 'call', callType: /^CALL$/i.test(type) ? 'call' : 'staticcall', ...facts })
}

/** A log without a position comes after all calls. */
function positionOf(raw: unknown): number {
	return isObject(raw) ? Number(quantity(raw.position) ?? Number.MAX_SAFE_INTEGER) : 0
}

function isLog(raw: Json, log: Log): boolean {
	const topics = Array.isArray(raw.topics) ? raw.topics.map(hash) : []
	return address(raw.address) === log.address && topics.join() === log.topics.join()
}
