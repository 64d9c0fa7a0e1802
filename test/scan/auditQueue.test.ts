import { expect, test } from 'vitest'
import type { BlockRef } from '../../src/model/chain.js'
import type { NetworkState } from '../../src/model/state.js'
import { checkQueue, createAuditQueue, push } from '../../src/scan/auditing/auditQueue.js'
import type { Handover } from '../../src/scan/auditing/handover.js'
import { blockOf } from '../state/samples.js'

const handover = (from: number, to: number): Handover =>
	({ part: { span: { from: BigInt(from), to: BigInt(to) }, transactions: [] } }) as unknown as Handover

const spans = (handed: readonly Handover[]) => handed.map(({ part: { span } }) => `${span.from}-${span.to}`)

test('behavior: where the auditor lags far behind, the oldest blocks are left out', () => {
	const queue = createAuditQueue()
	for (let from = 1; from <= 1_000; from += 100) push(queue, handover(from, from + 99))
	expect(spans(queue.handed)).toEqual(['501-600', '601-700', '701-800', '801-900', '901-1000'])
	push(queue, handover(1_001, 3_000))
	expect(spans(queue.handed)).toEqual(['1001-3000'])
})

test.each<[string, BlockRef, bigint, readonly string[]]>([
	['nothing was moved', blockOf(20), 9n, ['10-20']],
	['another instance scanned on', blockOf(21), 9n, []],
	['another instance found a reorganisation', { ...blockOf(20), hash: blockOf(7).hash }, 9n, []],
	['another instance took the blocks in', blockOf(20), 20n, []],
])('behavior: before a poll: %s', (_, checkpoint, taken, left) => {
	const queue = createAuditQueue()
	push(queue, handover(10, 20))
	queue.upTo = blockOf(20)
	checkQueue(queue, { checkpoint, audit: { taken, signed: [] } } as unknown as NetworkState)
	expect(spans(queue.handed)).toEqual(left)
	expect(queue.upTo).toEqual(checkpoint)
})
