// An announced withdrawal when its block has been replaced: only a header that can be read retracts it.
import { expect, test } from 'vitest'
import { withdrawal } from '../../src/kinds/withdrawal.js'
import type { Block } from '../../src/model/chain.js'
import type { Announcement } from '../../src/model/state.js'

const address = `0x${'ab'.repeat(20)}` as const
const hashOf = (digit: string) => `0x${digit.repeat(64)}` as const
const data = { index: '7', valueWei: '5', watch: { address } }
const entry = { block: { number: 9n, hash: hashOf('1') }, alerts: [{ data }] } as unknown as Announcement
const paid = { index: 7n, validatorIndex: 1n, address, wei: 5n }
const after = { number: 9n, hash: hashOf('2') }

test.each<readonly [string, Partial<Block>, unknown]>([
	['pays it too', { withdrawals: [paid] }, { moved: after }],
	['pays another amount', { withdrawals: [{ ...paid, wei: 6n }] }, 'gone'],
	['pays it to another address', { withdrawals: [{ ...paid, address: `0x${'cd'.repeat(20)}` }] }, 'gone'],
	['pays none', {}, 'gone'],
	['has withdrawals that cannot be read', { hasUnreadWithdrawals: true }, 'here'],
])('an announced withdrawal, whose block was replaced by one that %s', (_, more, standing) => {
	const header = new Map([[9n, { ...after, ...more }]])
	const answers = { header, transaction: new Map(), reading: new Map() }
	expect(withdrawal.missing(entry, { answers, shown: null })).toEqual(standing)
})
