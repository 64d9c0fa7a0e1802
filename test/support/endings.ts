/** Self-destructs. `EIP-6780` below: since Cancun only a contract made in the same transaction really goes. */
import { create2Address, createAddress, puppetInit } from './puppet.js'
import { act, at, borrow, type Cases, call, create, create2, die, milli, next, pay, revert } from './stagecraft.js'

/** Salts of this file. */
const salts = { swept: 20n, itself: 21n, paidAfter: 22n, undone: 23n, idle: 24n, old: 25n } as const

export const endings: Cases = {
	'the contracts that will end': (scene) => {
		const { dave, u0 } = scene.cast
		for (const salt of [salts.old, salts.idle]) at(scene, u0, salt)
		return act(dave, u0, 0n, [create2(salts.old, puppetInit, 31n * milli), create2(salts.idle, puppetInit)])
	},
	'self-destruct of an old contract, to a watched heir': ({ cast: { dave, u0, alice } }) =>
		act(dave, create2Address(u0, salts.old, puppetInit), 1n, [die(alice), pay(alice, 1n)]),
	'self-destruct with nothing left': ({ cast: { dave, u0, alice } }) =>
		act(dave, create2Address(u0, salts.idle, puppetInit), 0n, [die(alice)]),
	'self-destruct of a watched contract, to an heir that nobody watches': (scene) => {
		const { dave, w0, erin } = scene.cast
		const born = next(scene, w0)
		return act(dave, w0, 0n, [create(puppetInit, 32n * milli), call(born, 2n, [die(erin)])])
	},
	'self-destruct in the transaction of its creation': (scene) => {
		const { dave, w0, bob } = scene.cast
		const born = at(scene, w0, salts.swept)
		return act(dave, w0, 0n, [create2(salts.swept, puppetInit, 33n * milli), call(born, 2n, [die(bob)])])
	},
	'creation where one has ended before': ({ cast: { dave, w0 } }) =>
		act(dave, w0, 0n, [create2(salts.swept, puppetInit, 34n * milli)]),
	// Nothing moves. Anvil up to 1.7 and other nodes of its family trace it with the facts of whatever moved before, here
	// the payment into the contract (revm before #3805): a self-destruct in the name of an account that only called.
	'self-destruct of an old contract, to itself': ({ cast: { dave, w0 } }) => {
		const born = create2Address(w0, salts.swept, puppetInit)
		return act(dave, born, 3n, [die(born)])
	},
	'self-destruct to itself in the transaction of its creation': (scene) => {
		const { dave, w1 } = scene.cast
		const born = at(scene, w1, salts.itself)
		return act(dave, w1, 0n, [create2(salts.itself, puppetInit, 35n), call(born, 2n, [die(born)])])
	},
	'payment to a contract that ends in the same transaction': (scene) => {
		const { dave, w1, alice } = scene.cast
		const born = at(scene, w1, salts.paidAfter)
		return act(dave, w1, 0n, [
			create2(salts.paidAfter, puppetInit, 36n),
			call(born, 2n, [die(alice)]),
			pay(born, 5n),
			call(born, 7n, [die(alice)]),
			pay(born, 9n),
		])
	},
	'self-destruct that is undone': (scene) => {
		const { dave, u0, u1, alice } = scene.cast
		const born = at(scene, u1, salts.undone)
		return act(dave, u0, 0n, [
			call(u1, 1n, [create2(salts.undone, puppetInit, 37n), call(born, 2n, [die(alice)]), revert]),
			call(u1, 1n, [pay(alice, 1n)]),
		])
	},
	'self-destruct in the name of the caller': ({ cast: { dave, u2, lender, w0 } }) =>
		act(dave, u2, 5n, [pay(w0, 1n), borrow(lender, [die(w0)]), pay(w0, 1n)]),
	'self-destruct in a constructor, endowed by a watched contract': (scene) => {
		const { dave, w2, lender, erin } = scene.cast
		scene.watch(createAddress(next(scene, w2), 1n))
		const init = scene.ledger.acting(lender, [create(puppetInit, 3n), die(erin)])
		return act(dave, w2, 0n, [create(init, 10n)])
	},
}
