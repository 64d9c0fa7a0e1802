/**
 * The room thinks, and does nothing else: no package, no clock, no disk, no chance. From frames come events (here),
 * from events and watches matches (`match.ts`), from these alerts (`alert.ts`); what is announced is checked against
 * what is there now (`compare.ts`).
 */

import type { ChainEvent, FrameEvent } from '../model/alert.js'
import type { Frame, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import { effective } from './effective.js'

/**
 * What happened in a transaction, in the order of its trace. A creation with an endowment is two events, its deployment
 * and its transfer; who wants both kinds is sent the first only (see match).
 */
export function eventsOf(tx: TxTrace): readonly FrameEvent[] {
	return [...eventsIn(tx)]
}

/** As `eventsOf`, one by one: a stranger makes tens of thousands in one transaction. */
export function* eventsIn(tx: TxTrace): Generator<FrameEvent> {
	let rewards = 0
	const initiator = initiatorOf(tx)
	for (const frame of effective(tx)) {
		const to = frame.to
		if (to === null) continue
		const trace = frame.type === 'reward' ? `reward_${rewards++}` : traceText(frame.traceAddress)
		const event = { tx, frame, to, trace, initiator }
		if (frame.type === 'create' || frame.type === 'create2') {
			yield eventOf(event, 'deployment')
			if (frame.valueWei === 0n) continue
		}
		yield eventOf(event, 'transfer')
	}
}

/** `<chainId>:<txHash>:<trace>:<kind>:<address>`: the same on every run and every machine; no full stop in it. */
export function alertId(
	chainId: number,
	event: Pick<ChainEvent, 'txHash' | 'trace' | 'kind'>,
	address: Address,
): string {
	return `${chainId}:${event.txHash}:${event.trace}:${event.kind}:${address}`
}

/** Whether an alert of this id tells what a transaction did: then its frames or logs show whether it is still so. */
export function isOfTransaction(id: string): boolean {
	const kind = id.split(':')[3] ?? ''
	return !['withdrawal', 'delegation', 'income', 'balance', 'unexplained'].includes(kind)
}

/** Whether an alert of this id tells what a log did. */
export function isOfLogs(id: string): boolean {
	return id.split(':')[3] === 'token'
}

/** The watched address that an alert id ends with. */
export function addressOfId(id: string): Address {
	return id.slice(id.lastIndexOf(':') + 1) as Address
}

/** `root` for the root frame, else the path joined by `_`. */
export function traceText(traceAddress: readonly number[]): string {
	return traceAddress.length === 0 ? 'root' : traceAddress.join('_')
}

interface EventFacts {
	readonly tx: TxTrace
	readonly frame: Frame
	readonly to: Address
	readonly trace: string
	readonly initiator: Address | null
}

function eventOf({ tx, frame, to, trace, initiator }: EventFacts, kind: FrameEvent['kind']): FrameEvent {
	return {
		kind,
		frameType: frame.type,
		from: frame.from,
		to,
		valueWei: frame.valueWei,
		// A reward belongs to no transaction: its block names it.
		txHash: tx.txHash ?? tx.block.hash,
		txIndex: tx.txIndex,
		traceAddress: frame.traceAddress,
		trace,
		block: tx.block,
		initiator,
	}
}

/** The root frame is the transaction itself: who made that call sent it. Costs no question. */
function initiatorOf({ txHash, frames, fee }: TxTrace): Address | null {
	if (txHash === null) return null
	const root = frames.find(({ traceAddress }) => traceAddress.length === 0)
	return root?.from ?? fee?.payer ?? null
}
