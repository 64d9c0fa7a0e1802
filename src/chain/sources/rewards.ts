import type { AddressSet } from '../../model/chain.js'
import { checkBlock, rewardsOf, rowKey } from '../traces/assemble.js'
import { openRow, type Row, readRow } from '../traces/parityRows.js'
import { listOf } from '../traces/rows.js'
import type { Header, Reading } from '../wire.js'
import type { Hit } from './receipts.js'

/** The rewards of one block out of its rows; null where none of those that are paid is for the addresses. */
export function readRewards(raw: unknown, block: Header, addresses: AddressSet, endpoint: string): Hit | null {
	const reading: Reading = { endpoint, method: 'trace_block' }
	const seen = new Set<string>()
	const list = listOf(raw, reading)
	const rows: Row[] = []
	for (let index = 0; index < list.length; index++) {
		const open = openRow(list.at(index), index, reading)
		if (open.type !== 'reward') continue
		const row = readRow(open, index, reading)
		checkBlock(row, block, reading)
		const key = rowKey(row)
		if (key !== null && seen.has(key)) continue
		if (key !== null) seen.add(key)
		rows.push(row)
	}
	const rewards = rewardsOf(rows, block, addresses)
	return rewards === null ? null : { txHash: null, txIndex: null, block, frames: rewards.frames }
}
