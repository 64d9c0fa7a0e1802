import type { MessageType, SystemData, UndeliveredData } from '../../model/alert.js'
import type { Span } from '../../model/chain.js'
import type { Delivery } from '../../model/delivery.js'
import { copiesOf, type Posting } from './posting.js'

/** A message about a network as a whole. */
export interface SystemNotice {
	readonly type: Extract<MessageType, 'system.stalled' | 'system.recovered' | 'system.gap' | 'system.refused'>
	readonly network: string
	readonly chainId: number
	readonly checkpoint: bigint | null
	readonly head: bigint | null
	readonly reason: string
	/** When the stall began; part of the id, so that a restart repeats the message under the same id. */
	readonly sinceMs: number
	/** For a gap, and for its end. */
	readonly blocks?: Span
	/** ISO 8601; for a gap that the operator has accepted. */
	readonly acceptedAt?: string
	/** For a recovery: it ends a refused edit. Absent: it ends a stall or a gap. */
	readonly ends?: 'refused'
}

export function systemDeliveries(
	notice: SystemNotice,
	receivers: readonly string[],
	posting: Posting,
): readonly Delivery[] {
	const { type, network, chainId, checkpoint, head, reason, sinceMs, blocks, acceptedAt, ends } = notice
	const place = blocks === undefined ? '' : `${blocks.from}-${blocks.to}:`
	const data: SystemData = {
		id: `${chainId}:${type.replace('.', '_')}:${network}:${place}${sinceMs}`,
		network,
		chainId,
		checkpoint: checkpoint === null ? null : Number(checkpoint),
		head: head === null ? null : Number(head),
		reason,
		...(blocks && { fromBlock: Number(blocks.from), toBlock: Number(blocks.to) }),
		...(acceptedAt !== undefined && { acceptedAt }),
		...(ends !== undefined && { ends }),
	}
	return noticeDeliveries(type, data, receivers, posting)
}

/** One delivery per receiver and recipient; their ids derive from that of the data. */
export function noticeDeliveries(
	type: MessageType,
	data: SystemData | UndeliveredData,
	receivers: readonly string[],
	posting: Posting,
): readonly Delivery[] {
	const timestamp = new Date(posting.nowMs).toISOString()
	return receivers.flatMap((receiver) =>
		copiesOf([data.id], { receiver, recipients: posting.recipientsOf(receiver) }, posting, (deliveryId) => {
			return { type, timestamp, data: { ...data, deliveryId } }
		}),
	)
}
