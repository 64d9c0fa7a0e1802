// What rules a contract, out of what was read of it.
import { expect, test } from 'vitest'
import { controllersOf } from '../../../src/core/control/controllersOf.js'
import { address } from '../build.js'

const [own, alice, bob, admin] = [address(1), address(0xa11ce), address(0xb0b), address(0xad)]
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const

test('default: the gravest first, with the contract that holds it and what shows it', () => {
	const values = {
		...{ 'governor()': word(7n), 'owner()': alice, [`safe.owner ${bob}`]: bob, [`safe.owner ${alice}`]: alice },
		...{ implementation: bob, admin, 'admin owner()': alice, 'safe.threshold': word(2n), 'pendingOwner()': address(0) },
	}
	const rulings = controllersOf(own, values)
	expect(
		rulings.map(({ change, place, contract, value, shownBy }) => [change, place, contract, value, shownBy]),
	).toEqual([
		['implementation', 'implementation', own, bob, 'slot'],
		['admin', 'admin', own, admin, 'slot'],
		['owner', 'admin owner()', admin, alice, 'function'],
		['owner', 'owner()', own, alice, 'function'],
		['safe.owner', `safe.owner ${bob}`, own, bob, 'list'],
		['safe.owner', `safe.owner ${alice}`, own, alice, 'list'],
		['safe.threshold', 'safe.threshold', own, '2', 'slot'],
		['value', 'governor()', own, '7', 'function'],
	])
	expect(rulings[0]).toMatchObject({ slot: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc' })
})

test('default: nothing rules what holds nothing', () => {
	expect(controllersOf(own, {})).toEqual([])
})

test('behavior: a word up to 112 bits is a number, up to 160 bits an address, else itself', () => {
	const supply = 589_000_000_000_000n * 10n ** 18n
	const permit2 = 0x000000000022d473030f116ddee9f6b43ac78ba3n
	const words = [supply, (1n << 112n) - 1n, 1n << 112n, permit2, (1n << 160n) - 1n, 1n << 160n].map(word)
	const values = Object.fromEntries(words.map((held, at) => [`slot ${at}`, held]))
	expect(controllersOf(own, values).map(({ value }) => value)).toEqual([
		'589000000000000000000000000000000',
		'5192296858534827628530496329220095',
		'0x0000000000010000000000000000000000000000',
		'0x000000000022d473030f116ddee9f6b43ac78ba3',
		`0x${'f'.repeat(40)}`,
		word(1n << 160n),
	])
})
