import { z } from 'zod'
import { parseAmount } from '../../base/amount.js'
import { quoted } from '../../base/text/quoted.js'
import { slotOfRead } from '../../core/control/places.js'
import { allKinds, usualKinds } from '../../kinds/all.js'
import { noTokens } from '../../kinds/tokenRules.js'
import type { Address } from '../../model/glossary.js'
import type { TokenChoice } from '../../model/token.js'
import { readCalledFunction } from '../abiFunction.js'
import { parseAddress } from '../address.js'
import type { Coin, Names } from '../names.js'
import { readLine, readName, readSwitch } from '../values.js'
import { list, oneOrMore, orNull, readEach, section, suggestion, text, unknownName } from '../words.js'

/**
 * Schemas of watchlists/*.yaml, one section for each part. They depend on the network: its coin, its tokens, its
 * checksums. What is null in `names`, and a `coin` that is null, is unknown, and not checked.
 */

const unusualKinds = allKinds.filter((kind) => !usualKinds.includes(kind))

function inSpans(words: readonly string[]): string {
	return words.map((word) => `\`${word}\``).join(', ')
}

/** `slot 7`, `slot 0x…` or `governor()`, in the form in which it is remembered. */
function readValueName(written: string): string {
	const name = written.trim().replace(/\s+/g, ' ')
	if (/^[A-Za-z_$][\w$]{0,63}\(\)$/.test(name)) return name
	const slot = name.toLowerCase()
	if (slotOfRead(slot) !== null) return slot
	throw new RangeError(
		`must be a slot such as slot 7, or a function without arguments such as governor(): ${quoted(written)}`,
	)
}

/** An amount in wei, at least `leastWei`; null where the coin is unknown. */
function readAmount(value: string, coin: Coin | null, leastWei: bigint): bigint | null {
	if (coin === null) return null
	const wei = parseAmount(value, coin.decimals, coin.symbol)
	return wei > leastWei ? wei : leastWei
}

function readLowest(value: string, coin: Coin | null): bigint | null {
	const wei = readAmount(value, coin, 0n)
	if (wei !== 0n) return wei
	throw new RangeError('no balance is below 0; write 1 wei to be alerted at 0')
}

/** The contracts that an address or a symbol names; none where the tokens are unknown. */
function tokensNamed(written: string, coin: Coin | null): readonly Address[] {
	if (/^0x/i.test(written)) return [parseAddress(written, coin?.chainId)]
	const tokens = coin === null ? null : coin.tokens === undefined ? noTokens : coin.tokens
	if (tokens === null) return []
	const known = [...tokens.values()]
	const own = known.filter(({ symbol }) => symbol === written).map(({ address }) => address)
	if (own.length === 1) return own
	const shown = quoted(written)
	if (own.length > 1) throw new RangeError(`names ${own.length} tokens by the symbol ${shown}: write the address`)
	const near = suggestion(written, [...new Set(known.map(({ symbol }) => symbol))])
	const hint = known.length === 0 ? '; the network names no tokens' : near
	throw new RangeError(`is not the symbol of a token of the network: ${shown}${hint}`)
}

function readBlock(value: string): bigint {
	if (/^\d{1,15}$/.test(value)) return BigInt(value)
	throw new RangeError(`must be a block number such as 19000000, not ${quoted(value)}`)
}

/** A name that stands in the settings. */
function nameOf(what: 'network' | 'receiver', known: Iterable<string> | null) {
	const names = known === null ? null : [...known]
	return text(readName).superRefine((name, context) => {
		if (names === null || names.includes(name)) return
		context.addIssue({ code: 'custom', message: unknownName(what, name, names), params: { between: null } })
	})
}

/** Options of one address, of an address file, or of the whole watchlist. */
const optionsOf = (names: Names, coin: Coin | null) => ({
	tags: z
		.array(text(readLine))
		.default([])
		.meta({
			description:
				'Words that go along with each alert, besides those of the watchlist and, from a file, of the line. ' +
				'Default: none.',
		}),
	kinds: orNull(list(z.enum(allKinds))).meta({
		description: `Which kinds to report, a list of ${inSpans(allKinds)}. Default: all but ${unusualKinds.join(', ')}.`,
	}),
	direction: orNull(z.enum(['in', 'out', 'both'])).meta({
		description:
			'Seen from the address. A deployment is `out` for its creator and `in` for the contract. Default: both.',
	}),
	min_value: orNull(text((value) => readAmount(value, coin, 1n), ': ')).meta({
		type: ['string', 'number'],
		description:
			'Smallest transfer to report, exact: whole coins, or with a unit: 250 gwei, 1 wei. ' +
			'Deployments are always reported. Default: above 0.',
	}),
	balance_below: orNull(text((value) => readLowest(value, coin), ': ')).meta({
		type: ['string', 'number'],
		description:
			'Report once when the balance is below this, and again after it recovered. ' +
			'An amount as in `min_value`. Needs books. Default: never.',
	}),
	balance_above: orNull(text((value) => readAmount(value, coin, 0n), ': ')).meta({
		type: ['string', 'number'],
		description:
			'Report once when the balance is above this, and again after it fell. ' +
			'An amount as in `min_value`. Needs books. Default: never.',
	}),
	tokens: orNull(
		z
			.union([z.enum(['known', 'all', 'none']), list(text(readLine))], {
				error: 'must be known, all, none, or a list of symbols and addresses',
			})
			.transform((written, context): TokenChoice => {
				if (typeof written === 'string') return written
				return new Set(readEach(written, context, (one) => tokensNamed(one, coin)).flat())
			}),
	).meta({
		description:
			'Which tokens to report: `known` (those that the network names), `all` (unknown ones too, each ' +
			'marked so), `none`, or a list of symbols and addresses. Default: known.',
	}),
	calls: orNull(
		list(text(readLine)).transform((written, context) => {
			const functions = readEach(written, context, readCalledFunction)
			return new Map(functions.map(({ selector, ...one }) => [selector, one]))
		}),
	).meta({
		description:
			'Functions whose calls are reported, at any depth, static calls excepted: signatures such as ' +
			'`sweep(address to)`, selectors such as 0x8456cb59. Default: none.',
	}),
	failed_calls: orNull(text(readSwitch)).meta({
		type: 'boolean',
		description:
			'Whether calls of these functions that failed, or were undone, are reported too. Anyone can make ' +
			'them. Default: false.',
	}),
	allowed_code: orNull(list(text((value) => parseAddress(value, coin?.chainId)))).meta({
		description:
			'Contracts whose code the address may run in its own storage; its own code and known libraries need ' +
			'no entry. Default: none.',
	}),
	reads: orNull(list(text(readValueName))).meta({
		description:
			'Values of the contract to read besides those that rule it: slots such as `slot 7`, functions ' +
			'without arguments such as `governor()`. A change is reported as `control`. Default: none.',
	}),
	receivers: orNull(list(nameOf('receiver', names.receivers))).meta({
		description: 'Who is notified, instead of the receivers of the watchlist. Default: the receivers of the watchlist.',
	}),
	from_block: orNull(text(readBlock)).meta({
		type: 'integer',
		description:
			'First block to look at; older blocks are read beside the new ones, and their alerts come late. ' +
			'Default: the block after the one at which the watch is first seen.',
	}),
})

export type OptionsWritten = z.output<z.ZodObject<ReturnType<typeof optionsOf>>>

const addressesFrom = oneOrMore(text(readLine))

export function watchlistSchemas(names: Names, coin: Coin | null) {
	const options = optionsOf(names, coin)
	const watch = section({
		address: text((value) => parseAddress(value, coin?.chainId)).meta({
			type: ['string', 'number'],
			description:
				'Address to watch: all lower case, or with its EIP-55 checksum; quoted or not. A wrong checksum is ' +
				'an error.',
		}),
		label: orNull(text(readLine)).meta({
			type: ['string', 'number', 'boolean'],
			description: 'Name of the address in alerts, such as Treasury. Default: none.',
		}),
		...options,
	}).meta({ id: 'watch', description: 'One address with its options.' })

	const entry = section({
		addresses_from: addressesFrom.meta({
			description: 'Files of addresses, CSV with the columns address, label and tags; relative to the watchlist.',
		}),
		...options,
	}).meta({ id: 'addresses', description: 'All addresses of a file with the same options.' })

	/** A watchlist without its watches, each of which is checked by itself. */
	const file = section({
		network: nameOf('network', names.networks?.keys() ?? null).meta({
			description: 'Name of a network in tracewatch.yaml.',
		}),
		addresses_from: addressesFrom.optional().meta({
			description:
				'Files of addresses to watch besides, CSV with the columns address, label and tags; ' +
				'relative to the watchlist. Default: none.',
		}),
		...options,
		tags: options.tags.meta({ description: 'Words that go along with each alert. Default: none.' }),
		receivers: options.receivers.meta({
			description: 'Who is notified, for every watch that names none. Default: none.',
		}),
		watches: z.array(z.unknown()).min(1).optional(),
	})

	const watches = z
		.array(z.union([watch, entry]))
		.min(1)
		.optional()
	const whole = file
		.extend({ watches: watches.meta({ description: 'The addresses. Default: none, with addresses_from.' }) })
		.meta({
			title: 'Watchlist of tracewatch',
			description:
				'Addresses of one network and who is notified of them. ' +
				'Options beside the watches hold for each of them that has none of its own.',
			anyOf: [{ required: ['watches'] }, { required: ['addresses_from'] }],
		})
	return { file, watch, entry, whole }
}
