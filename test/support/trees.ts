/** Random trees of calls for puppets, out of a seed. */

import type { Address, Hex } from '../../src/model/glossary.js'
import type { Chance } from './chance.js'
import { inits } from './inits.js'
import { type Action, puppetInit } from './puppet.js'

export interface Stage {
	readonly chance: Chance
	/** Called, borrowed from, paid; at least one. */
	readonly puppets: readonly Address[]
	/** Paid only. */
	readonly accounts: readonly Address[]
	/** Init codes of constructors that act. */
	readonly acting: readonly Hex[]
}

/** Enough for what such a frame does before it fails, and little enough to leave the rest to the others. */
const failingGas = 400_000

/** Actions in the name of `self`; they go at most `depth` calls deeper. */
export function growTree(stage: Stage, self: Address, depth: number, isStatic = false): Action[] {
	const { chance } = stage
	const actions: Action[] = []
	for (let width = 1 + chance.number(3); width > 0; width--) {
		actions.push(isStatic ? growQuiet(stage, self, depth) : grow(stage, self, depth))
	}
	if (depth < 4 && chance.percent(12)) actions.push({ do: 'revert' })
	return actions
}

function grow(stage: Stage, self: Address, depth: number): Action {
	const { chance, puppets, accounts } = stage
	const bubble = chance.percent(35)
	const dice = chance.number(100)
	if (dice < 30 || depth === 0) return { do: 'call', to: chance.pick(accounts), valueWei: amount(chance), bubble }
	const to = chance.pick(puppets)
	if (dice < 58) return { do: 'call', to, valueWei: amount(chance), inner: growTree(stage, to, depth - 1), bubble }
	if (dice < 66) return { do: 'delegatecall', to, inner: growTree(stage, self, depth - 1), bubble }
	if (dice < 72) {
		return { do: 'callcode', to, valueWei: amount(chance), inner: growTree(stage, self, depth - 1), bubble }
	}
	if (dice < 76) return { do: 'staticcall', to, inner: growTree(stage, to, depth - 1, true), bubble }
	if (dice < 83) return { do: 'create', init: initCode(stage), valueWei: amount(chance), bubble }
	if (dice < 90) {
		const salt = BigInt(chance.number(2 ** 32))
		return { do: 'create2', init: initCode(stage), salt, valueWei: amount(chance), bubble }
	}
	if (dice < 93) {
		// Not to itself: what Anvil traces then cannot always be told from a payment (see endings.ts).
		return { do: 'selfdestruct', heir: chance.pick([...puppets, ...accounts].filter((heir) => heir !== self)) }
	}
	// These take all the gas that they are given, so they are given little.
	const failing: Action[] =
		dice < 95
			? [{ do: 'invalid' }]
			: dice < 96
				? [{ do: 'burn' }]
				: dice < 98
					? [
							{
								do: 'create',
								init: chance.pick([inits.invalid, inits.ef, inits.oversized]),
								valueWei: 1n,
								bubble: true,
							},
						]
					: [{ do: 'staticcall', to, bubble: true, inner: [{ do: 'call', to, valueWei: 1n }] }]
	const paid: Action = { do: 'call', to: chance.pick(accounts), valueWei: amount(chance) }
	return { do: 'call', to, valueWei: amount(chance), gas: failingGas, inner: [paid, ...failing], bubble }
}

/** What may be done where nothing may change. */
function growQuiet(stage: Stage, self: Address, depth: number): Action {
	const { chance, puppets, accounts } = stage
	if (depth === 0 || chance.percent(40)) return { do: 'call', to: chance.pick(accounts) }
	const kind = chance.pick(['call', 'delegatecall', 'staticcall'] as const)
	const to = chance.pick(puppets)
	const inner = growTree(stage, kind === 'delegatecall' ? self : to, depth - 1, true)
	return { do: kind, to, inner, bubble: chance.percent(35) }
}

function initCode({ chance, acting }: Stage): Hex {
	return chance.pick([puppetInit, puppetInit, ...acting, inits.codeless, inits.reverting])
}

/** From nothing to about a coin; now and then more than anybody has. */
function amount(chance: Chance): bigint {
	if (chance.percent(15)) return 0n
	if (chance.percent(4)) return 10n ** 30n
	return BigInt(chance.number(1_000_000)) * 10n ** BigInt(chance.number(13))
}
