import { expect, test } from 'vitest'
import { contractBack, contractsBack, contractWith } from '../../../src/core/control/setBackContract.js'
import type { Contract, LearntCode } from '../../../src/model/contract.js'
import type { Address, Hash } from '../../../src/model/glossary.js'

const [one, other]: readonly [Address, Address] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
const hash = (digit: string): Hash => `0x${digit.repeat(64)}`
const first: Contract = {
	since: 10n,
	readAt: 10n,
	codeHash: hash('a'),
	isSafe: false,
	values: { owner: one, admin: one },
}

test('default: each change is put back, and the one before it stands', () => {
	const second = contractWith(first, { block: 12n, values: { owner: other, beacon: other }, isSafe: true }, 0n)
	const third = contractWith(second, { block: 14n, values: { owner: one, admin: '' }, codeHash: hash('b') }, 0n)
	expect(third).toMatchObject({ readAt: 14n, codeHash: hash('b'), isSafe: true, values: { owner: one, beacon: other } })
	expect(third.values).not.toHaveProperty('admin')
	expect(contractBack(third, 14n)).toBe(third)
	expect(contractBack(third, 13n)).toEqual({ ...second, readAt: 13n })
	expect(contractBack(third, 12n)).toEqual(second)
	expect(contractBack(third, 11n)).toEqual({ ...first, readAt: 11n })
	expect(contractBack(third, 9n)).toBeNull()
})

test('behavior: earlier values of a contract are kept only for blocks that may still leave the chain', () => {
	const second = contractWith(first, { block: 12n, values: { owner: other } }, 0n)
	const third = contractWith(second, { block: 300n, values: { owner: one } }, 40n)
	expect(third.undo).toEqual([{ block: 300n, values: { owner: other } }])
})

test('behavior: code that was learnt in a block is forgotten with it', () => {
	const learnt = (block: bigint): LearntCode => {
		return { block, caller: one, callerHash: hash('c'), callee: other, calleeHash: hash('d') }
	}
	const contract = { ...first, learnt: [learnt(12n), learnt(15n)] }
	expect(contractBack(contract, 13n)).toEqual({ ...first, learnt: [learnt(12n)] })
	expect(
		contractsBack(
			new Map([
				[one, contract],
				[other, first],
			]),
			13n,
		),
	).toEqual(new Map([[one, { ...first, learnt: [learnt(12n)] }]]))
})
