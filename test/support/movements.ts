/** Payments and creations. */

import { inits } from './inits.js'
import { create2Address, createAddress, puppetInit } from './puppet.js'
import { act, at, type Cases, call, create, create2, deploy, die, milli, next, pay, send } from './stagecraft.js'

export const movements: Cases = {
	'payment in': ({ cast: { dave, alice } }) => send(dave, alice, 1500n * milli),
	'payment out': ({ cast: { alice, dave } }) => send(alice, dave, 250n * milli),
	'two watched addresses in one frame': ({ cast: { alice, bob } }) => send(alice, bob, 30n * milli),
	'self transfer': ({ cast: { alice } }) => send(alice, alice, 77n * milli),
	'zero value': ({ cast: { dave, alice } }) => send(dave, alice, 0n),
	'payment three calls deep': ({ cast: { dave, u0, u1, u2, alice } }) =>
		act(dave, u0, 9n * milli, [call(u1, 8n * milli, [call(u2, 7n * milli, [pay(alice, 6n * milli)])])]),
	'payment six calls deep through watched contracts': ({ cast: { dave, w0, w1, w2, u0, u1, bob } }) =>
		act(dave, w0, 60n, [
			call(u0, 50n, [call(w1, 40n, [call(u1, 30n, [call(w2, 20n, [call(w0, 10n, [pay(bob, 5n)])])])])]),
		]),
	'self transfer inside a contract': ({ cast: { dave, w0 } }) => act(dave, w0, 3n, [pay(w0, 2n * milli)]),
	'two watched addresses in one inner frame': ({ cast: { erin, w0, w1, alice } }) =>
		act(erin, w0, 5n * milli, [pay(alice, 2n * milli), pay(w1, 1n * milli)]),
	'zero-value calls inside': ({ cast: { dave, w0, w1, alice, bob } }) =>
		act(dave, w0, 0n, [pay(alice, 0n), call(w1, 0n, [pay(bob, 0n)])]),
	'multi-send that pays one address twice': ({ cast: { dave, u0, alice, bob } }) =>
		act(dave, u0, 7n * milli, [pay(alice, 3n * milli), pay(bob, milli), pay(alice, 3n * milli)]),
	'multi-send from a watched contract': ({ cast: { dave, w0, alice, erin } }) =>
		act(dave, w0, 0n, [pay(erin, 1n), pay(alice, 2n), pay(erin, 1n), pay(erin, 3n)]),

	'payment to a precompiled contract': ({ cast: { dave, w0 } }) =>
		act(dave, w0, 0n, [pay('0x0000000000000000000000000000000000000004', 8n)]),

	'factory CREATE': (scene) => {
		next(scene, scene.cast.w0)
		return act(scene.cast.dave, scene.cast.w0, 0n, [create(puppetInit)])
	},
	'factory CREATE with endowment, by a factory that nobody watches': (scene) => {
		next(scene, scene.cast.u0)
		return act(scene.cast.dave, scene.cast.u0, 0n, [create(puppetInit, 11n * milli)])
	},
	'factory CREATE2': (scene) => {
		at(scene, scene.cast.w0, 1n)
		return act(scene.cast.dave, scene.cast.w0, 0n, [create2(1n, puppetInit)])
	},
	'factory CREATE2 with endowment, three calls deep': (scene) => {
		const { dave, u0, u1, w0 } = scene.cast
		at(scene, w0, 2n)
		return act(dave, u0, 0n, [call(u1, 0n, [call(w0, 0n, [create2(2n, puppetInit, 12n * milli)])])])
	},
	'payment to an address that will be a contract': (scene) =>
		send(scene.cast.dave, at(scene, scene.cast.u1, 3n), 4n * milli),
	'CREATE2 where coins wait already': ({ cast: { dave, u1 } }) =>
		act(dave, u1, 0n, [create2(3n, puppetInit, 5n * milli)]),
	'payment by the contract that came there': ({ cast: { dave, u1, erin } }) =>
		act(dave, create2Address(u1, 3n, puppetInit), 0n, [pay(erin, 9n * milli)]),
	'constructor that pays': (scene) => {
		const { dave, w1, lender, alice } = scene.cast
		next(scene, w1)
		return act(dave, w1, 0n, [create(scene.ledger.acting(lender, [pay(alice, 2n)]), 10n)])
	},
	'constructor that creates': (scene) => {
		const { dave, w1, lender } = scene.cast
		scene.watch(createAddress(next(scene, w1), 1n))
		return act(dave, w1, 0n, [create(scene.ledger.acting(lender, [create(puppetInit, 4n)]), 10n)])
	},
	'constructor that destroys itself': (scene) => {
		const { dave, w1, lender, bob } = scene.cast
		next(scene, w1)
		return act(dave, w1, 0n, [create(scene.ledger.acting(lender, [die(bob)]), 13n)])
	},

	'deployment by an account': (scene) => {
		next(scene, scene.cast.alice)
		return deploy(scene.cast.alice, puppetInit)
	},
	'deployment by an account with endowment': (scene) => {
		next(scene, scene.cast.alice)
		return deploy(scene.cast.alice, puppetInit, 21n * milli)
	},
	'deployment of a watched address by an account that nobody watches': (scene) => {
		next(scene, scene.cast.erin)
		return deploy(scene.cast.erin, puppetInit, 1n)
	},
	'deployment that leaves no code': (scene) => {
		next(scene, scene.cast.bob)
		return deploy(scene.cast.bob, inits.codeless, 22n)
	},
	'deployment that fails, with endowment': (scene) => {
		next(scene, scene.cast.alice)
		return deploy(scene.cast.alice, inits.reverting, 23n * milli)
	},
	'deployment that fails and takes all the gas': (scene) => {
		next(scene, scene.cast.alice)
		return { ...deploy(scene.cast.alice, inits.ef, 24n * milli), gas: 200_000n }
	},
}
