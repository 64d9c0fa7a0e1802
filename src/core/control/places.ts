/**
 * Where a contract keeps what rules it: storage slots and functions, each with a name under which its value is
 * remembered. Sources: EIP-1967, EIP-1822, ERC-7201 and the contracts that are named.
 */

import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { ControlChange } from '../../model/ownFields.js'

/** How the 32 bytes of a place are read; what else is packed into them is left out. */
type Shape = 'address' | 'number' | 'flag' | 'word'

export interface Place {
	/** In `Contract.values`. For a function: its signature. */
	readonly name: string
	readonly change: ControlChange
	readonly shape: Shape
	/** Null: a function. */
	readonly slot: Hash | null
}

/** Read of every contract. A slot stands before a function that tells the same. */
export const slotPlaces: readonly (Place & { readonly slot: Hash })[] = [
	slot('implementation', 'implementation', '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'),
	slot(
		'implementation-zeppelin',
		'implementation',
		'0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
	),
	slot(
		'implementation-eip1822',
		'implementation',
		'0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7',
	),
	slot('implementation-matic', 'implementation', '0xbaab7dbf64751104133af04abc7d9979f0fda3b059a322a8333f533d3f32bf7f'),
	slot('beacon', 'beacon', '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'),
	slot('admin', 'admin', '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103'),
	slot('admin-zeppelin', 'admin', '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b'),
	slot('owner', 'owner', '0x9016d09d72d40fdae2fd8ceac6b6234c7706214fd39c1cd1e609a0528c199300'),
	slot('owner-solady', 'owner', '0xffffffffffffffffffffffffffffffffffffffffffffffffffffffff74873927'),
	slot('owner-matic', 'owner', '0x44f6e2e8884cba1236b7f22f351fa5d88b17292b7e0225ca47e5ecdf6055cdd6'),
	slot('owner-diamond', 'owner', '0xc8fcad8db84d3cc18b4c41d551ea0ee66dd599cde068d998e57d5e09332c1320'),
	slot('pendingOwner', 'pendingOwner', '0x237e158222e3e6968b72b9db0d8043aacf074ad9f650f0d1606b4d82ee432c00'),
	slot('authority', 'authority', '0xf3177357ab46d8af007ab3fdb9af81da189e1068fefdc0073dca88a2cab40a00'),
	slot('paused', 'paused', '0xcd5ed15c6e187e77e9aee88184c21f4f2182ab5827cb3b7e07fbedcd63f03300', 'flag'),
	slot('initialized', 'initialized', '0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00', 'number'),
	slot('safe.guard', 'safe.guard', '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8'),
	slot('safe.moduleGuard', 'safe.moduleGuard', '0xb104e0b93118902c651344349b610029d694cfdec91c589c91ebafbcd0289947'),
	slot(
		'safe.fallbackHandler',
		'safe.fallbackHandler',
		'0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5',
	),
	// Coinbase's MultiOwnable: the next index, and how many owners were removed.
	slot('owner-index', 'value', '0x97e2c6aad4ce5d562ebfaa00db6b9e0fb66ea5d8162ed5b243f51a2e03086f00', 'word'),
	slot('owner-removed', 'value', '0x97e2c6aad4ce5d562ebfaa00db6b9e0fb66ea5d8162ed5b243f51a2e03086f01', 'word'),
]

/** Asked of every contract at its first look, later of those that answered. */
export const getterPlaces: readonly Place[] = [
	getter('owner()', 'owner'),
	getter('pendingOwner()', 'pendingOwner'),
	getter('defaultAdmin()', 'admin'),
	getter('admin()', 'admin'),
	getter('authority()', 'authority'),
	getter('implementation()', 'implementation'),
	getter('paused()', 'paused', 'flag'),
	getter('getMinDelay()', 'timelock', 'word'),
]

/** Of a Safe only: other contracts keep anything in these slots. */
export const safeSlots = {
	singleton: slot('safe.singleton', 'safe.singleton', wordOf(0n)),
	/** How many owners there are. */
	count: wordOf(3n),
	threshold: slot('safe.threshold', 'safe.threshold', wordOf(4n), 'word'),
	nonce: wordOf(5n),
	/** Numbers of the mappings in which the lists are linked. */
	modules: 1n,
	owners: 2n,
} as const

/** First and last of a linked list. */
export const sentinel: Address = `0x${'1'.padStart(40, '0')}`

/** Contracts that rule a proxy, and what is asked of them: one step, not further. */
export const followed: readonly { readonly through: string; readonly signatures: readonly string[] }[] = [
	{ through: 'beacon', signatures: ['implementation()', 'owner()'] },
	{ through: 'admin', signatures: ['owner()'] },
]

const byName = new Map<string, Place>(
	[...slotPlaces, safeSlots.singleton, safeSlots.threshold, ...getterPlaces].map((place) => [place.name, place]),
)

/** What a name in `Contract.values` stands for. */
export interface Named extends Place {
	/** The member of a list; null: no list. */
	readonly member: Address | null
	/** The place that names the contract whose function was asked; null: the watch itself. */
	readonly through: string | null
}

export function placeOf(name: string): Named {
	const [, list, member] = /^(safe\.(?:owner|module)) (0x[0-9a-f]{40})$/.exec(name) ?? []
	if (list !== undefined && member !== undefined) {
		const change = list as ControlChange
		return { name, change, shape: 'address', slot: null, member: member as Address, through: null }
	}
	const [, through, asked] = /^(\S+) (\w+\(\))$/.exec(name) ?? []
	if (through !== undefined && asked !== undefined)
		return { ...(byName.get(asked) ?? getter(asked, 'value', 'word')), name, member: null, through }
	const known = byName.get(name) ?? { name, change: 'value', shape: 'word', slot: slotOfRead(name) }
	return { ...known, member: null, through: null }
}

/** The slot that one of `reads` names: `slot 7`, `slot 0x…`; null: it is a function. */
export function slotOfRead(read: string): Hash | null {
	const [, number] = /^slot (0x[0-9a-f]{1,64}|\d{1,78})$/.exec(read) ?? []
	if (number === undefined) return null
	const slot = BigInt(number)
	return slot < 1n << 256n ? wordOf(slot) : null
}

/** As it is remembered: 20 bytes of an address, 32 of everything else; null: zero. */
export function valueIn(word: Hash, shape: Shape): Hex | null {
	const number = BigInt(word)
	if (shape === 'word') return number === 0n ? null : word
	const [bits, length] = widths[shape]
	const own = BigInt.asUintN(bits, number)
	return own === 0n ? null : `0x${own.toString(16).padStart(2 * length, '0')}`
}

const widths = { address: [160, 20], number: [64, 32], flag: [8, 32] } as const

/** Whether a function that tells a value of this shape can have answered this word. */
export function isOfShape(word: Hash, shape: Shape): boolean {
	const most = { address: 160n, number: 64n, flag: 1n, word: 256n }[shape]
	return BigInt(word) < 1n << most
}

/** The value as alerts show it: an address, a hash or a decimal number; null: none. A flag is 1 or 0. */
export function shownValue(value: Hex | '' | undefined, shape: Shape): string | null {
	if (value === undefined || value === '') return shape === 'flag' ? '0' : null
	const number = BigInt(value)
	if (value.length === 42) return number === 0n ? null : value
	// A word may be anything. A supply of tokens mostly fits in 112 bits (Uniswap V2 takes no more); of the addresses
	// only those with 6 empty bytes do.
	if (number < 1n << 112n) return String(number)
	return shape === 'word' && number < 1n << 160n ? `0x${number.toString(16).padStart(40, '0')}` : value
}

function slot(name: string, change: ControlChange, slot: Hash, shape: Shape = 'address') {
	return { name, change, shape, slot }
}

function getter(name: string, change: ControlChange, shape: Shape = 'address'): Place {
	return { name, change, shape, slot: null }
}

function wordOf(number: bigint): Hash {
	return `0x${number.toString(16).padStart(64, '0')}`
}
