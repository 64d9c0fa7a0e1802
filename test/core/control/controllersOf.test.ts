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
