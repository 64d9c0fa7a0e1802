/**
 * The world by hand: what a list of actions does to balances, by the rules of the EVM and without one. It is the second
 * opinion that the truth scenario checks against the node's balances, so it shares nothing with the product but the
 * arithmetic of addresses. Gas is not counted: whoever builds a scenario gives enough of it, or caps a frame that
 * fails.
 */

import type { Address, Hex } from '../../src/model/glossary.js'
import type { Kind } from '../../src/model/kind.js'
import { actingInit, inits } from './inits.js'
import { type Action, type CreateAction, create2Address, createAddress, puppetInit } from './puppet.js'

/** Coins that really moved; a deployment carries its endowment. Transfers of nothing are left out. */
export interface Movement {
	readonly kind: Kind
	readonly from: Address
	readonly to: Address
	readonly valueWei: bigint
}

export interface LedgerTx {
	readonly from: Address
	/** Null: a deployment, by `init`. */
	readonly to: Address | null
	readonly valueWei: bigint
	readonly actions: readonly Action[]
	readonly init?: Hex
}

export interface Consequence {
	readonly succeeded: boolean
	readonly movements: readonly Movement[]
	/** Coins that left the books without going anywhere. */
	readonly burnt: readonly { readonly address: Address; readonly wei: bigint }[]
	/** Contracts that came to be, with what stands there after the transaction. */
	readonly born: readonly { readonly address: Address; readonly remains: 'code' | 'no code' | 'destroyed' }[]
	/** Contracts that are gone after the transaction. */
	readonly ended: readonly Address[]
	/** Where creations failed, but for those that met a contract there. */
	readonly stillborn: readonly Address[]
}

export interface Ledger {
	/** Carries out one transaction. Fees are not kept here. */
	run(tx: LedgerTx): Consequence
	/** Init code of a puppet that acts in its constructor, and what the ledger is to think of it. */
	acting(puppet: Address, actions: readonly Action[]): Hex
	balanceWei(address: Address): bigint
	isPuppet(address: Address): boolean
	/** Number of the next creation by this account. */
	nonce(address: Address): bigint
}

interface Account {
	readonly balanceWei: bigint
	readonly nonce: bigint
	readonly code: 'none' | 'puppet'
}

interface State {
	accounts: Map<Address, Account>
	movements: Movement[]
	burnt: Map<Address, bigint>
	/** Created in this transaction, in order. */
	born: Set<Address>
	doomed: Set<Address>
}

/** How one action, or one frame, ended. `ended`: by a self-destruct, well. `failed`: the frame that tried it fails. */
type End = 'well' | 'refused' | 'ended' | 'failed'

interface Frame {
	readonly self: Address
	readonly isStatic: boolean
}

const nothing: Account = { balanceWei: 0n, nonce: 0n, code: 'none' }

/**
 * `destroys`: which contracts a self-destruct really removes: all, before Cancun; since then (EIP-6780) those created
 * in the same transaction.
 */
export function createLedger(start: ReadonlyMap<Address, bigint>, destroys: 'all' | 'young'): Ledger {
	const meanings = new Map<Hex, readonly Action[] | 'fails' | 'codeless'>([
		[puppetInit, []],
		[inits.reverting, 'fails'],
		[inits.invalid, 'fails'],
		[inits.ef, 'fails'],
		[inits.oversized, 'fails'],
		[inits.codeless, 'codeless'],
	])
	let state = freshState(new Map([...start].map(([address, balanceWei]) => [address, { ...nothing, balanceWei }])))
	let stillborn: Address[] = []

	const of = (address: Address) => state.accounts.get(address) ?? nothing
	const change = (address: Address, facts: Partial<Account>) => {
		state.accounts.set(address, { ...of(address), ...facts })
	}
	const move = (from: Address, to: Address, valueWei: bigint) => {
		change(from, { balanceWei: of(from).balanceWei - valueWei })
		change(to, { balanceWei: of(to).balanceWei + valueWei })
	}
	/** Does something that is undone altogether when it fails. */
	const attempt = (deed: () => End): End => {
		const before = copy(state)
		const end = deed()
		if (end === 'failed') state = before
		return end === 'failed' ? 'refused' : 'well'
	}

	const call = (from: Address, to: Address, valueWei: bigint, inner: readonly Action[], isStatic: boolean): End => {
		if (of(from).balanceWei < valueWei) return 'refused'
		return attempt(() => {
			move(from, to, valueWei)
			if (valueWei > 0n) state.movements.push({ kind: 'transfer', from, to, valueWei })
			return of(to).code === 'puppet' ? perform(inner, { self: to, isStatic }) : 'well'
		})
	}

	const create = (from: Address, address: Address, valueWei: bigint, init: Hex): End => {
		const meaning = meanings.get(init)
		if (meaning === undefined) throw new Error('the ledger does not know this init code')
		const stands = of(address)
		if (stands.code !== 'none' || stands.nonce > 0n) return 'refused'
		const end = attempt(() => {
			move(from, address, valueWei)
			change(address, { nonce: 1n })
			state.born.add(address)
			state.movements.push({ kind: 'deployment', from, to: address, valueWei })
			if (meaning === 'fails') return 'failed'
			if (meaning === 'codeless') return 'well'
			if (perform(meaning, { self: address, isStatic: false }) === 'failed') return 'failed'
			change(address, { code: 'puppet' })
			return 'well'
		})
		if (end !== 'well') stillborn.push(address)
		return end
	}

	const createBy = (action: CreateAction, self: Address): End => {
		const { init, valueWei = 0n, salt = 0n } = action
		if (of(self).balanceWei < valueWei) return 'refused'
		const { nonce } = of(self)
		const address = action.do === 'create' ? createAddress(self, nonce) : create2Address(self, salt, init)
		// Used up whatever becomes of the creation.
		change(self, { nonce: nonce + 1n })
		return create(self, address, valueWei, init)
	}

	const destroy = (self: Address, heir: Address): End => {
		const { balanceWei } = of(self)
		const dies = destroys === 'all' || state.born.has(self)
		if (heir !== self) {
			move(self, heir, balanceWei)
			if (balanceWei > 0n) state.movements.push({ kind: 'transfer', from: self, to: heir, valueWei: balanceWei })
		} else if (dies) burn(self)
		if (dies) state.doomed.add(self)
		return 'ended'
	}

	const burn = (address: Address) => {
		const { balanceWei } = of(address)
		if (balanceWei > 0n) state.burnt.set(address, (state.burnt.get(address) ?? 0n) + balanceWei)
		change(address, { balanceWei: 0n })
	}

	const act = (action: Action, { self, isStatic }: Frame): End => {
		switch (action.do) {
			case 'call': {
				if (isStatic && (action.valueWei ?? 0n) > 0n) return 'failed'
				return call(self, action.to, action.valueWei ?? 0n, action.inner ?? [], isStatic)
			}
			case 'callcode':
				if (of(self).balanceWei < (action.valueWei ?? 0n)) return 'refused'
				return borrow(action.to, action.inner ?? [], { self, isStatic })
			case 'delegatecall':
				return borrow(action.to, action.inner ?? [], { self, isStatic })
			case 'staticcall':
				return call(self, action.to, 0n, action.inner ?? [], true)
			case 'create':
			case 'create2':
				return isStatic ? 'failed' : createBy(action, self)
			case 'selfdestruct':
				return isStatic ? 'failed' : destroy(self, action.heir)
			default:
				return 'failed'
		}
	}
	const borrow = (code: Address, inner: readonly Action[], frame: Frame): End =>
		attempt(() => (of(code).code === 'puppet' ? perform(inner, frame) : 'well'))

	const perform = (actions: readonly Action[], frame: Frame): End => {
		for (const action of actions) {
			const end = act(action, frame)
			if (end === 'failed' || end === 'ended') return end
			if (end === 'refused' && 'bubble' in action && action.bubble) return 'failed'
		}
		return 'well'
	}

	return {
		run({ from, to, valueWei, actions, init }) {
			state = freshState(state.accounts)
			stillborn = []
			const { nonce, balanceWei } = of(from)
			if (balanceWei < valueWei) throw new Error('a transaction that its sender cannot pay for')
			change(from, { nonce: nonce + 1n })
			const end =
				to === null
					? create(from, createAddress(from, nonce), valueWei, init ?? '0x')
					: call(from, to, valueWei, actions, false)
			for (const address of state.doomed) burn(address)
			for (const address of state.doomed) state.accounts.delete(address)
			const { movements, burnt, born, doomed } = state
			return {
				succeeded: end === 'well',
				movements,
				burnt: [...burnt].map(([address, wei]) => ({ address, wei })),
				born: [...born].map((address) => ({
					address,
					remains: doomed.has(address) ? 'destroyed' : of(address).code === 'none' ? 'no code' : 'code',
				})),
				ended: [...doomed],
				stillborn,
			}
		},
		acting(puppet, actions) {
			const init = actingInit(puppet, actions)
			meanings.set(init, actions)
			return init
		},
		balanceWei: (address) => of(address).balanceWei,
		isPuppet: (address) => of(address).code === 'puppet',
		nonce: (address) => of(address).nonce,
	}
}

function freshState(accounts: Map<Address, Account>): State {
	return { accounts, movements: [], burnt: new Map(), born: new Set(), doomed: new Set() }
}

function copy({ accounts, movements, burnt, born, doomed }: State): State {
	return {
		accounts: new Map(accounts),
		movements: [...movements],
		burnt: new Map(burnt),
		born: new Set(born),
		doomed: new Set(doomed),
	}
}
