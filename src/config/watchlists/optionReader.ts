import { parseAmount } from '../../base/amount.js'
import { quoted } from '../../base/text/quoted.js'
import type { Problem } from '../../errors.js'
import { noTokens } from '../../kinds/tokenRules.js'
import type { KnownTokens } from '../../model/token.js'
import { type Coin, listAt, type Names, at as valueAt } from '../names.js'
import { suggestion } from '../words.js'
import type { Source } from '../yaml/sourceFile.js'
import { readCallChoice } from './callChoice.js'
import { readTokenChoice } from './tokenChoice.js'
import { type Options, type OptionsWritten, usual, withOptions } from './watchOptions.js'

/**
 * The options at one place of a watchlist, which override `base`; `written` null: the schema has reported problems.
 */
export type ReadOptions = (
	written: OptionsWritten | null,
	value: unknown,
	at: readonly PropertyKey[],
	base: Options,
) => Options

interface OptionReader {
	readonly source: Source
	readonly names: Names
	/** Null: the network is unknown. */
	readonly coin: Coin | null
	/** Invalid amounts, tokens, calls and thresholds, and unknown receivers are reported here. */
	readonly problems: Problem[]
}

export function createOptionReader({ source, names, coin, problems }: OptionReader): ReadOptions {
	return (written, value, at, base) => {
		problems.push(...receiverProblems(source, names, value, at))
		const amount = (key: 'min_value' | 'balance_below' | 'balance_above') => {
			const read = readAmount(key, valueAt(value, key), coin)
			if ('message' in read) problems.push(source.problem([...at, key], read.message))
			return 'wei' in read ? read.wei : null
		}
		const amounts = {
			minValueWei: amount('min_value'),
			belowWei: amount('balance_below'),
			aboveWei: amount('balance_above'),
		}
		const tokens = readTokenChoice(written?.tokens ?? null, coin === null ? null : (coin.tokens ?? noTokensOf(coin)))
		for (const { index, message } of tokens.faults) problems.push(source.problem([...at, 'tokens', index], message))
		const calls = readCallChoice(written?.calls ?? null)
		for (const { index, message } of calls.faults) problems.push(source.problem([...at, 'calls', index], message))
		if (written === null) return base
		const read = { ...amounts, tokens: tokens.choice, functions: calls.functions }
		const options = withOptions(written, read, base)
		/** Reports it at the first of these keys that is here. */
		const report = (fault: string | null, keys: readonly string[]) => {
			const key = keys.find((one) => valueAt(value, one) !== undefined)
			if (fault !== null && key !== undefined) problems.push(source.problem([...at, key], fault))
		}
		if (base !== usual) report(callFault(options), ['failed_calls', 'calls', 'kinds'])
		report(thresholdFault(options, coin), ['balance_below', 'balance_above', 'kinds'])
		return options
	}
}

/** Null where the network's tokens are unknown. */
function noTokensOf({ tokens }: Coin): KnownTokens | null {
	return tokens === null ? null : noTokens
}

/** Why no call could ever cause an alert; null when one can. */
function callFault({ calls, kinds }: Options): string | null {
	if (calls === undefined) return null
	if (calls.functions.size === 0) {
		// Else `calls` names functions of ABI files that cannot be read, which is said there.
		return calls.failed ? '`failed_calls` does nothing without `calls`, which names the functions' : null
	}
	return kinds.includes('call') ? null : '`kinds` leaves out call, so `calls` would send no alert'
}

function receiverProblems(
	source: Source,
	{ receivers: known }: Names,
	value: unknown,
	at: readonly PropertyKey[],
): readonly Problem[] {
	if (known === null) return []
	return listAt(value, 'receivers').flatMap((name, index) =>
		typeof name !== 'string' || known.includes(name)
			? []
			: [source.problem([...at, 'receivers', index], unknownName('receiver', name, known))],
	)
}

/**
 * An amount in wei, at least 1. Null when the value is no text, which the schema reports, or when the coin is unknown.
 */
function readAmount(
	key: string,
	value: unknown,
	coin: Coin | null,
): { readonly wei: bigint | null } | { readonly message: string } {
	if (typeof value !== 'string' || coin === null) return { wei: null }
	try {
		const wei = parseAmount(value, coin.decimals, coin.symbol)
		return { wei: wei > 1n ? wei : 1n }
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		return { message: `\`${key}\`: ${error.message}` }
	}
}

/** Why the thresholds could never cause an alert; null when they can. */
function thresholdFault({ thresholds, kinds }: Options, coin: Coin | null): string | null {
	if (thresholds === undefined) return null
	const { belowWei, aboveWei } = thresholds
	if (belowWei !== null && aboveWei !== null && belowWei > aboveWei)
		return '`balance_below` is more than `balance_above`: no balance would be right'
	if (!kinds.includes('balance')) return '`kinds` leaves out balance, so the thresholds would send no alert'
	if (coin?.keepsBooks === false)
		return 'this network keeps no books (`proof: off` or `private`), so that its balances are not known'
	return null
}

export function unknownName(what: 'network' | 'receiver', name: string, known: readonly string[]): string {
	const near = suggestion(name, known)
	const all = known.length > 10 ? `${known.slice(0, 10).join(', ')} …` : known.join(', ')
	return `no ${what} ${quoted(name)} is in the settings${near === '' ? `, which have ${all}` : near}`
}
