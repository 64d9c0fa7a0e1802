/** The room derives events from a node's answers: from frames that moved something, from logs and from headers. */

import { askedBy, type Requested } from '../../kinds/request.js'
import type { FrameEvent } from '../../model/alert.js'
import type { Frame, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import { effective } from './effective.js'

export type FramedEvent = FrameEvent | Requested

/**
 * The events of a transaction, in the order of its trace. A creation with an endowment is two events, its deployment
 * and its transfer; a watch of both kinds is sent the deployment only (see `kinds/transfer.ts`).
 */
export function eventsOf(tx: TxTrace): readonly FramedEvent[] {
	return [...eventsIn(tx)]
}

/** Like `eventsOf`, one at a time: one transaction can contain tens of thousands. */
export function* eventsIn(tx: TxTrace): Generator<FramedEvent> {
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
		// The fee of a request is at least 1 wei, so each request moves coins.
		const asked = askedBy(frame)
		if (asked !== null) yield { ...eventOf(event, 'transfer'), kind: 'request', ...asked }
		yield eventOf(event, 'transfer')
	}
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

/** The sender of the root frame sent the transaction; no request is needed. */
function initiatorOf({ txHash, frames, fee }: TxTrace): Address | null {
	if (txHash === null) return null
	const root = frames.find(({ traceAddress }) => traceAddress.length === 0)
	return root?.from ?? fee?.payer ?? null
}
