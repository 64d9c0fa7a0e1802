/** What the cases of the truth scenario are written with. */

import type { Address, Hex } from '../../src/model/glossary.js'
import type { Ledger, LedgerTx } from './ledger.js'
import { type Action, create2Address, createAddress, puppetInit } from './puppet.js'

/** One transaction of the scenario. */
export interface Scripted extends LedgerTx {
	/** Default: plenty. */
	readonly gas?: bigint
}

/** Cases by name, each one transaction; in order, for later ones build on earlier. */
export type Cases = Readonly<Record<string, (scene: Scene) => Scripted>>

export interface Cast {
	/** Watched accounts with keys. */
	readonly alice: Address
	readonly bob: Address
	/** Accounts with keys that no one watches. */
	readonly dave: Address
	readonly erin: Address
	/** Watched puppets. */
	readonly w0: Address
	readonly w1: Address
	readonly w2: Address
	/** Puppets that no one watches. */
	readonly u0: Address
	readonly u1: Address
	readonly u2: Address
	/** Lends its code to constructors; nothing is ever sent to it, so it never dies. */
	readonly lender: Address
}

export interface Scene {
	readonly cast: Cast
	/** As it stands before the case. */
	readonly ledger: Ledger
	/** Puts an address on the watchlist. */
	watch(address: Address): Address
}

export const milli = 10n ** 15n
/** For frames that take all the gas they are given. */
export const gasOfFailing = 400_000

type More = { readonly bubble?: boolean; readonly gas?: number }

export const pay = (to: Address, valueWei: bigint, more: More = {}): Action => ({ do: 'call', to, valueWei, ...more })
export const call = (to: Address, valueWei: bigint, inner: readonly Action[], more: More = {}): Action => ({
	do: 'call',
	to,
	valueWei,
	inner,
	...more,
})
export const borrow = (to: Address, inner: readonly Action[], more: More = {}): Action => ({
	do: 'delegatecall',
	to,
	inner,
	...more,
})
export const create = (init: Hex, valueWei = 0n): Action => ({ do: 'create', init, valueWei })
export const create2 = (salt: bigint, init: Hex, valueWei = 0n): Action => ({ do: 'create2', salt, init, valueWei })
export const die = (heir: Address): Action => ({ do: 'selfdestruct', heir })
export const revert: Action = { do: 'revert' }

export const send = (from: Address, to: Address, valueWei: bigint): Scripted => ({ from, to, valueWei, actions: [] })
export const act = (from: Address, to: Address, valueWei: bigint, actions: readonly Action[]): Scripted => ({
	from,
	to,
	valueWei,
	actions,
})
export const deploy = (from: Address, init: Hex, valueWei = 0n): Scripted => ({
	from,
	to: null,
	valueWei,
	actions: [],
	init,
})

/** Where `creator`'s next CREATE goes; watched from now on. */
export const next = ({ ledger, watch }: Scene, creator: Address) => watch(createAddress(creator, ledger.nonce(creator)))
/** Where its CREATE2 of a puppet goes; watched from now on. */
export const at = ({ watch }: Scene, creator: Address, salt: bigint) => watch(create2Address(creator, salt, puppetInit))
