// An announced withdrawal when its block has been replaced: only a header that can be read retracts it.
import { expect, test } from 'vitest'
import { withdrawal } from '../../src/kinds/withdrawal.js'
import type { AlertData } from '../../src/model/alert.js'
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

test.each([
	['1099511627775', 'W received 0.08 ETH as a withdrawal from staking', '7, of validator 1099511627775'],
	// EIP-7732: `BUILDER_INDEX_FLAG` is 2^40.
	['1099511627786', 'W received 0.08 ETH as a payment from builder 10', '7, of builder 10'],
])('the words for validator index %s', (validatorIndex, sentence, row) => {
	const watch = { address, label: 'W', tags: [], watchlist: 'a.yaml' }
	const own = { index: '7', validatorIndex, valueWei: '80000000000000000', value: '0.08', asset: 'ETH', watch }
	const alert = { ...own, txHash: hashOf('1'), kind: 'withdrawal', direction: 'in' } as unknown as AlertData
	expect(withdrawal.sentence(alert)).toBe(sentence)
	expect(withdrawal.facts(alert).find(({ name }) => name === 'Withdrawal')?.value).toBe(row)
})
