import { expect, test } from 'vitest'
import { payeesOf, payeesText } from '../../../src/state/records/payeesText.js'
import { addressOf } from '../samples.js'

const [one, other, third] = [addressOf(1), addressOf(2), addressOf(3)]

test('default: an older list opens, and of no one in it is known who started the payment', () => {
	const old = `${one} 2.5,${other} 0.000001`
	const list = payeesOf(old)
	expect(list).toEqual([
		{ address: one, amount: '2.5' },
		{ address: other, amount: '0.000001' },
	])
	expect(payeesText(list)).toBe(old)
})

test('behavior: who started it is kept; a word that no one knows is as if it were not there', () => {
	const text = payeesText([
		{ address: one, amount: '1' },
		{ address: other, amount: '2', startedBy: 'other' },
		{ address: third, amount: '3', startedBy: 'watch' },
	])
	expect(text).toBe(`${one} 1,${other} 2 other,${third} 3 watch`)
	expect(payeesOf(`${text},${one} 4 somebody`)).toEqual([
		{ address: one, amount: '1' },
		{ address: other, amount: '2', startedBy: 'other' },
		{ address: third, amount: '3', startedBy: 'watch' },
		{ address: one, amount: '4' },
	])
})
