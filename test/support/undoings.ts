/** What moves nothing, though it looks as if it did: borrowed code, and what failed. */

import { inits } from './inits.js'
import { create2Address, puppetInit } from './puppet.js'
import { act, borrow, type Cases, call, create, create2, gasOfFailing, milli, next, pay, revert } from './stagecraft.js'

export const undoings: Cases = {
	'delegatecall with value': ({ cast: { dave, w0, w1, u0, alice } }) =>
		act(dave, w0, 40n * milli, [borrow(u0, [pay(alice, 1n)]), borrow(w1, []), borrow(alice, [])]),
	'delegatecall to a watched contract': ({ cast: { dave, u0, w1, erin } }) =>
		act(dave, u0, 41n * milli, [borrow(w1, [pay(erin, 2n), borrow(w1, [pay(erin, 3n)])])]),
	'callcode with value': ({ cast: { dave, w0, u1, w1, bob } }) =>
		act(dave, w0, 1n, [
			{ do: 'callcode', to: u1, valueWei: 5n * milli, inner: [pay(bob, 1n)] },
			{ do: 'callcode', to: w1, valueWei: 6n * milli },
		]),
	'callcode to a watched account': ({ cast: { dave, u1, alice } }) =>
		act(dave, u1, 0n, [{ do: 'callcode', to: alice, valueWei: 5n * milli }]),

	'payment in a call that reverts and is caught': ({ cast: { dave, u0, u1, alice } }) =>
		act(dave, u0, 30n * milli, [call(u1, 30n * milli, [pay(alice, 30n * milli), revert])]),
	'payments far below a call that reverts and is caught': ({ cast: { dave, u0, u1, u2, w0, w1, alice, bob } }) =>
		act(dave, u0, 8n * milli, [
			pay(bob, 1n),
			call(u1, 5n * milli, [
				call(u2, 4n * milli, [call(w0, 3n, [pay(alice, 2n), pay(w1, 1n)])]),
				call(w1, 1n, [create(puppetInit, 1n)]),
				revert,
			]),
			pay(bob, 2n),
		]),
	'payment in a call that meets an invalid opcode': ({ cast: { dave, u0, u1, alice, bob } }) =>
		act(dave, u0, 9n, [call(u1, 3n, [pay(alice, 3n), { do: 'invalid' }], { gas: gasOfFailing }), pay(bob, 4n)]),
	'payment in a call that runs out of gas': ({ cast: { dave, w0, u1, alice, bob } }) =>
		act(dave, w0, 9n, [call(u1, 3n, [pay(alice, 3n), { do: 'burn' }], { gas: gasOfFailing }), pay(bob, 4n)]),
	'payment beyond the balance': ({ cast: { dave, w0, alice, bob } }) =>
		act(dave, w0, 0n, [pay(alice, 10n ** 30n), pay(bob, 1n)]),
	'payment within a staticcall': ({ cast: { dave, w0, w1, alice } }) =>
		act(dave, w0, 6n, [
			{ do: 'staticcall', to: w1, gas: gasOfFailing, inner: [pay(alice, 1n)] },
			{ do: 'staticcall', to: w1, inner: [pay(alice, 0n)] },
		]),
	'transaction that reverts whole, with value': ({ cast: { alice, u0, w0, bob } }) =>
		act(alice, u0, 50n * milli, [pay(bob, 20n * milli), call(w0, 5n, [pay(alice, 5n)]), revert]),
	'transaction that fails because an inner call does': ({ cast: { dave, u0, u1, alice } }) =>
		act(dave, u0, 5n * milli, [pay(alice, 1n), call(u1, 2n, [pay(alice, 2n), revert], { bubble: true })]),
	'top-level failure with value': ({ cast: { alice, w0 } }) => act(alice, w0, 51n * milli, [revert]),
	'top-level failure that takes all the gas': ({ cast: { dave, w0 } }) => ({
		...act(dave, w0, 52n * milli, [pay(w0, 1n), { do: 'burn' }]),
		gas: 200_000n,
	}),

	'creation that fails, with endowment': (scene) => {
		next(scene, scene.cast.w0)
		return act(scene.cast.dave, scene.cast.w0, 0n, [create(inits.reverting, 6n * milli), pay(scene.cast.bob, 1n)])
	},
	'CREATE2 that fails, with endowment': (scene) => {
		const { dave, w0 } = scene.cast
		scene.watch(create2Address(w0, 4n, inits.reverting))
		return act(dave, w0, 0n, [create2(4n, inits.reverting, 6n * milli)])
	},
	'creations that fail and take all the gas': ({ cast: { dave, w0, lender } }) =>
		act(
			dave,
			w0,
			0n,
			[inits.invalid, inits.ef, inits.oversized].map((init) =>
				borrow(lender, [create(init, 7n)], { gas: gasOfFailing }),
			),
		),
	'creation beyond the balance': ({ cast: { dave, w0 } }) => act(dave, w0, 0n, [create(puppetInit, 10n ** 30n)]),
	'creation that meets a contract': ({ cast: { dave, w0, lender } }) =>
		act(dave, w0, 0n, [borrow(lender, [create2(1n, puppetInit, 8n)], { gas: gasOfFailing })]),
	'constructor that pays and then fails': (scene) => {
		const { dave, w0, lender, alice } = scene.cast
		next(scene, w0)
		return act(dave, w0, 0n, [create(scene.ledger.acting(lender, [pay(alice, 3n), revert]), 9n)])
	},
}
