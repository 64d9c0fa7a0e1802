/** The sample alert of `test-send`: it looks like a real alert, says that it is a test, and is sent in the same way. */
import { sha256 } from '../../base/sha256.js'
import { copiesOf } from '../../core/outbox/posting.js'
import type { Message } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import type { Receiver } from '../../model/ports.js'

const sampleHash = `0x${'7e57'.repeat(16)}` as const
const watched = '0x7E5700000000000000000000000000000000AaAa'
const other = '0x7E5700000000000000000000000000000000bBbB'

/** One delivery for each recipient of a receiver. A call at another millisecond makes other ids. */
export function sampleDeliveries(
	{ name, recipients }: Pick<Receiver, 'name' | 'recipients'>,
	nowMs: number,
): readonly Delivery[] {
	return copiesOf(['test', nowMs], { receiver: name, recipients }, { nowMs, digest: sha256 }, (id) =>
		sampleMessage(id, nowMs),
	)
}

export function sampleMessage(deliveryId: string, nowMs: number): Message {
	const timestamp = new Date(nowMs).toISOString()
	return {
		type: 'test',
		timestamp,
		data: {
			id: `0:${sampleHash}:root:transfer:${watched.toLowerCase()}`,
			deliveryId,
			test: true,
			network: 'sample',
			chainId: 0,
			blockNumber: 1,
			blockHash: sampleHash,
			blockTimestamp: new Date(Math.floor(nowMs / 1_000) * 1_000).toISOString(),
			txHash: sampleHash,
			txIndex: 0,
			traceAddress: [],
			kind: 'transfer',
			frameType: 'call',
			category: 'external',
			from: other,
			to: watched,
			valueWei: '1500000000000000000',
			value: '1.5',
			asset: 'ETH',
			watch: { address: watched, label: 'Sample watch', tags: ['test'], watchlist: 'none: this is a test' },
			direction: 'in',
			finality: 'latest',
			detectedAt: timestamp,
			lagSeconds: 0,
			late: false,
		},
	}
}
