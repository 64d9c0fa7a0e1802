// Which announcements of a block a reading that closes the book refutes.
import { expect, test } from 'vitest'
import { announcedIn } from '../../../src/core/reconcile/refuted.js'
import type { Part } from '../../../src/model/chain.js'
import type { Announcement } from '../../../src/model/state.js'
import { address, alert, blockRef, frame, hash, header, tx } from '../build.js'

const id = `1:${hash(0xabc)}:root:transfer:${address(1)}`
const announced: Announcement = {
	...{ id, block: blockRef(10), txHash: hash(0xabc), alerts: [alert(id)], status: 'announced', revision: 0 },
}
const partWith = (valueWei: bigint | null): Part => ({
	span: { from: 10n, to: 10n },
	last: header(10),
	blocks: new Map([[10n, header(10)]]),
	transactions: valueWei === null ? [] : [tx([frame({ valueWei })])],
})
const refuted = (entry: Announcement, part: Part) => announcedIn(1, [entry]).refutedBy(part, address(1))

test.each<readonly [string, Partial<Announcement>, bigint | null, number]>([
	['the same amount', {}, 1n, 0],
	['another amount', {}, 2n, 1],
	['nothing', {}, null, 1],
	['nothing, after balances proved it', { proved: true }, null, 0],
	['nothing, in a block that replaced its own', { block: blockRef(10, 1) }, null, 0],
	['nothing, after it was retracted', { status: 'retracted', revision: 1 }, null, 0],
])('args: a transfer of 1 wei of which the reading shows %s', (_, part, valueWei, count) => {
	expect(refuted({ ...announced, ...part }, partWith(valueWei))).toHaveLength(count)
})
