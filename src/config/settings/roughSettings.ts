/** What can be read of settings that may have problems, so that those of the watchlists are found in the same run. */

import { z } from 'zod'
import type { Problem } from '../../errors.js'
import { at, type Coin, listAt, type Names, textAt } from '../names.js'
import { unknownName } from '../words.js'
import type { Source } from '../yaml/sourceFile.js'
import { networkKeys } from './settingsSchema.js'

const { name: nameSchema, decimals, symbol, chain_id } = networkKeys.shape
const namesSchema = z.array(nameSchema).min(1)
const coinSchema = z.object({ decimals, symbol })

/** The names, each list of them null where it is empty or one entry has no valid name. */
export function roughNames(value: unknown): Names {
	const names = (key: string) => namesSchema.safeParse(listAt(value, key).map((entry) => at(entry, 'name'))).data
	const networks = names('networks')
	const coins = networks?.map((name, index) => [name, coinOf(listAt(value, 'networks')[index])] as const)
	return { networks: coins === undefined ? null : new Map(coins), receivers: names('receivers') ?? null }
}

function coinOf(network: unknown): Coin | null {
	const coin = coinSchema.safeParse(network).data
	if (coin === undefined) return null
	return { ...coin, chainId: chain_id.safeParse(at(network, 'chain_id')).data ?? null, tokens: null }
}

/**
 * Problems between entries: a name that stands twice, a fallback that is none. Two receivers may name each other: no
 * alert goes back to a receiver that refused it.
 */
export function crossProblems(source: Source, value: unknown): readonly Problem[] {
	const problems: Problem[] = []
	for (const list of ['networks', 'receivers'] as const) {
		const names = listAt(value, list).map((entry) => textAt(entry, 'name'))
		for (const [index, name] of names.entries()) {
			const before = names.indexOf(name)
			const taken = () => `taken by the ${list.slice(0, -1)} in line ${source.locate([list, before, 'name']).line}`
			if (name !== null && before < index)
				problems.push(source.problem([list, index, 'name'], `the name \`${name}\` is ${taken()}`))
			const fallback = list === 'receivers' ? textAt(listAt(value, list)[index], 'fallback') : null
			if (fallback === null || (fallback !== name && names.includes(fallback))) continue
			const others = names.flatMap((other) => (other === name ? [] : (nameSchema.safeParse(other).data ?? [])))
			const isOwn = fallback === name
			const message = isOwn ? 'a receiver cannot be its own `fallback`' : unknownName('receiver', fallback, others)
			problems.push(source.problem([list, index, 'fallback'], message))
		}
	}
	return problems
}
