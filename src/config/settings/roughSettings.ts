import { z } from 'zod'
import { quoted } from '../../base/text/quoted.js'
import type { Problem } from '../../errors.js'
import type { Coin, Names } from '../names.js'
import { suggestion } from '../words.js'
import type { Source } from '../yaml/sourceFile.js'
import { networkKeys, settingsSchema, watchlistsSchema } from './settingsSchema.js'

const word = z.string().nullable().catch(null)
const entries = z.array(z.looseObject({ name: word, fallback: word }).catch({ name: null, fallback: null })).catch([])
const nothing = { networks: [], receivers: [], watchlists: null, state: null }

/**
 * What can be read of settings that may have problems, so that the problems of the watchlists are reported in the same
 * run. Null: unknown.
 */
export const roughSchema = z
	.looseObject({
		networks: entries,
		receivers: entries,
		watchlists: watchlistsSchema.nullable().catch(null),
		state: settingsSchema.shape.state.nullable().catch(null),
	})
	.catch(nothing)

export type RoughSettings = z.output<typeof roughSchema>
type Entries = RoughSettings['networks']

const { name: nameSchema, decimals, symbol, chain_id } = networkKeys.shape
const coinSchema = z
	.looseObject({ decimals, symbol, chain_id: chain_id.nullable().catch(null) })
	.transform((coin): Coin => ({ decimals: coin.decimals, symbol: coin.symbol, chainId: coin.chain_id, tokens: null }))
	.nullable()
	.catch(null)
const namesSchema = z.array(nameSchema).min(1)

/** The names, each list of them null where it is empty or one entry has no valid name. */
export function roughNames({ networks, receivers }: RoughSettings): Names {
	const names = validNames(networks)
	return {
		networks: names && new Map(names.map((name, index) => [name, coinSchema.parse(networks[index])])),
		receivers: validNames(receivers),
	}
}

function validNames(list: Entries): readonly string[] | null {
	return namesSchema.safeParse(list.map(({ name }) => name)).data ?? null
}

/** Problems between entries: a name that stands twice, a fallback that is none. */
export function crossProblems(source: Source, { networks, receivers }: RoughSettings): readonly Problem[] {
	return [
		...twice(source, networks, 'networks'),
		...twice(source, receivers, 'receivers'),
		...fallbackProblems(source, receivers),
	]
}

function twice(source: Source, list: Entries, key: 'networks' | 'receivers'): readonly Problem[] {
	return list.flatMap(({ name }, index) => {
		const before = list.findIndex((one) => one.name === name)
		if (name === null || before === index) return []
		const { line } = source.locate([key, before, 'name'])
		return source.problem(
			[key, index, 'name'],
			`the name \`${name}\` is taken by the ${key.slice(0, -1)} in line ${line}`,
		)
	})
}

/**
 * Two receivers may name each other: a message to a fallback is not passed on to its own fallback.
 */
function fallbackProblems(source: Source, receivers: Entries): readonly Problem[] {
	const names = receivers.flatMap(({ name }) => name ?? [])
	return receivers.flatMap(({ name, fallback }, index) => {
		if (fallback === null || (fallback !== name && names.includes(fallback))) return []
		const near = suggestion(
			fallback,
			names.filter((other) => other !== name),
		)
		const message = names.includes(fallback)
			? 'a receiver cannot be its own `fallback`'
			: `no receiver ${quoted(fallback)} is in the settings${near}`
		return source.problem(['receivers', index, 'fallback'], message)
	})
}
