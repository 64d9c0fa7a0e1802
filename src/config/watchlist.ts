import { parseAmount } from '../core/amount.js'
import type { Problem } from '../errors.js'
import type { Address, Watch } from '../model.js'
import { at, type Coin, type Known } from './known.js'
import { quoted } from './quoted.js'
import { check, inOrder, type Source } from './source.js'
import { headSchema, watchSchema } from './watchlistSchema.js'
import { suggestion } from './words.js'

/**
 * The watches of one file, frozen, as they stand in it. Each entry is checked for itself, so that one wrong entry hides
 * no problem of another; with problems the watches are not to be used.
 */
export function readWatchlist(
	source: Source,
	name: string,
	known: Known,
): { readonly watches: readonly Watch[]; readonly problems: readonly Problem[] } {
	const head = check(source, headSchema, source.value)
	const problems: Problem[] = 'problems' in head ? [...head.problems] : []
	const network = textAt(source.value, 'network')
	const shared = listAt(source.value, 'receivers')
	const entries = listAt(source.value, 'watches')
	const sharedNames = Object.freeze(shared.filter((receiver) => typeof receiver === 'string'))
	const sharedAny = at(source.value, 'receivers') !== undefined

	if (network !== null && known.networks !== null && !known.networks.has(network)) {
		problems.push(source.problem(['network'], unknownName('network', network, [...known.networks.keys()])))
	}
	const coin = network === null ? null : (known.networks?.get(network) ?? null)
	const receiverProblems = (names: readonly unknown[], path: readonly PropertyKey[]) =>
		names.flatMap((receiver, index) =>
			typeof receiver !== 'string' || known.receivers === null || known.receivers.includes(receiver)
				? []
				: [source.problem([...path, index], unknownName('receiver', receiver, known.receivers))],
		)
	problems.push(...receiverProblems(shared, ['receivers']))

	const first = new Map<Address, number>()
	const watches: Watch[] = []
	for (const [index, entry] of entries.entries()) {
		const path = ['watches', index]
		const checked = check(source, watchSchema, entry, path)
		const own = at(entry, 'receivers')
		if (own !== undefined) problems.push(...receiverProblems(Array.isArray(own) ? own : [], [...path, 'receivers']))
		else if (!sharedAny) {
			const message = 'nobody is told of this watch: name `receivers` here, or for the whole watchlist'
			problems.push(source.problem(path, message))
		}
		const amount = readLeast(at(entry, 'min_value'), coin)
		if ('message' in amount) problems.push(source.problem([...path, 'min_value'], amount.message))
		if ('problems' in checked) {
			problems.push(...checked.problems)
			continue
		}
		const { address, label, tags, kinds, direction, receivers, from_block: fromBlock } = checked.data
		const before = first.get(address)
		if (before === undefined) first.set(address, index)
		else {
			const { line } = source.locate(['watches', before, 'address'])
			const message = `this address stands already in line ${line}; a watchlist names an address once`
			problems.push(source.problem([...path, 'address'], message))
		}
		watches.push(
			Object.freeze({
				network: network ?? '',
				address,
				label,
				tags: Object.freeze(tags),
				kinds: Object.freeze(kinds),
				direction,
				minValueWei: 'wei' in amount ? amount.wei : 1n,
				receivers: receivers === null ? sharedNames : Object.freeze(receivers),
				fromBlock,
				watchlist: name,
			}),
		)
	}
	return { watches, problems: inOrder(problems) }
}

/** `min_value` in wei, at least 1; what is not a text is told by the schema, and without a coin nothing can be said. */
function readLeast(value: unknown, coin: Coin | null): { readonly wei: bigint } | { readonly message: string } {
	if (typeof value !== 'string' || coin === null) return { wei: 1n }
	try {
		const wei = parseAmount(value, coin.decimals, coin.symbol)
		return { wei: wei > 1n ? wei : 1n }
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		return { message: `\`min_value\`: ${error.message}` }
	}
}

function unknownName(what: 'network' | 'receiver', name: string, known: readonly string[]): string {
	const near = suggestion(name, known)
	const all = known.length > 10 ? `${known.slice(0, 10).join(', ')} …` : known.join(', ')
	return `no ${what} ${quoted(name)} is in the settings${near === '' ? `, which have ${all}` : near}`
}

function textAt(value: unknown, key: string): string | null {
	const found = at(value, key)
	return typeof found === 'string' ? found : null
}

function listAt(value: unknown, key: string): readonly unknown[] {
	const found = at(value, key)
	return Array.isArray(found) ? found : []
}
