import { recordOf, usualKinds } from '../../kinds/all.js'
import { noTokens } from '../../kinds/tokenRules.js'
import type { WatchedCalls } from '../../model/abi.js'
import type { Kind } from '../../model/kind.js'
import type { WatchRules } from '../../model/watch.js'
import type { Coin } from '../names.js'
import type { OptionsWritten } from './watchlistSchema.js'

/** The options of a watch that one entry can set. */
export type Options = Omit<WatchRules, 'network' | 'watchlist'>

/** Options of a watch that sets none. */
export const usual: Options = Object.freeze({
	tags: Object.freeze([]),
	kinds: usualKinds,
	direction: 'both',
	minValueWei: 1n,
	receivers: Object.freeze([]),
	fromBlock: null,
})

/** Overrides the options in `base` with those that are set; tags are added to those in `base`. */
export function withOptions(written: OptionsWritten, base: Options): Options {
	const { tags, ...others } = written
	// Shared, so that many watches without options take no memory of their own.
	const isOption = (key: string) => !['address', 'label', 'addresses_from'].includes(key)
	if (tags.length === 0 && Object.entries(others).every(([key, one]) => one === null || !isOption(key))) return base
	const belowWei = written.balance_below ?? base.thresholds?.belowWei ?? null
	const aboveWei = written.balance_above ?? base.thresholds?.aboveWei ?? null
	return {
		...base,
		tags: withTags(base.tags, tags),
		kinds: written.kinds ?? base.kinds,
		direction: written.direction ?? base.direction,
		minValueWei: written.min_value ?? base.minValueWei,
		receivers: written.receivers ?? base.receivers,
		fromBlock: written.from_block ?? base.fromBlock,
		...(written.tokens !== null && { tokens: written.tokens }),
		...((belowWei !== null || aboveWei !== null) && { thresholds: { belowWei, aboveWei } }),
		...callsOf(written, base.calls),
		...(written.allowed_code !== null && { allowedCode: written.allowed_code }),
		...(written.reads !== null && { reads: [...new Set(written.reads)] }),
	}
}

function callsOf({ calls, failed_calls: failed }: OptionsWritten, base: WatchedCalls | undefined) {
	if (calls === null && failed === null) return {}
	const functions = calls ?? base?.functions ?? new Map()
	return { calls: { functions, failed: failed ?? base?.failed ?? false } }
}

/** Both lists without duplicates; returns `base` itself when `own` is empty. */
export function withTags(base: readonly string[], own: readonly string[]): readonly string[] {
	if (own.length === 0) return base
	return Object.freeze(base.length === 0 ? [...own] : [...new Set([...base, ...own])])
}

export interface OptionFault {
	/** The problem belongs to the first of these keys that is set. */
	readonly keys: readonly string[]
	readonly message: string
}

/** Options that fit no alert together. `isFile`: they hold for a whole watchlist, whose watches may set others. */
export function faultsOf(
	{ calls, kinds, thresholds }: Options,
	coin: Coin | null,
	isFile: boolean,
): readonly OptionFault[] {
	const faults: OptionFault[] = []
	if (calls !== undefined && !isFile) {
		const keys = ['failed_calls', 'calls', 'kinds']
		if (calls.functions.size === 0)
			faults.push({ keys, message: '`failed_calls` does nothing without `calls`, which names the functions' })
		else if (!kinds.includes('call'))
			faults.push({ keys, message: '`kinds` leaves out call, so `calls` would send no alert' })
	}
	if (thresholds !== undefined) {
		const keys = ['balance_below', 'balance_above', 'kinds']
		const { belowWei, aboveWei } = thresholds
		if (belowWei !== null && aboveWei !== null && belowWei > aboveWei)
			faults.push({ keys, message: '`balance_below` is more than `balance_above`: no balance would be right' })
		if (!kinds.includes('balance'))
			faults.push({ keys, message: '`kinds` leaves out balance, so the thresholds would send no alert' })
		if (coin?.keepsBooks === false) {
			const message = 'this network keeps no books (`proof: off` or `private`), so that its balances are not known'
			faults.push({ keys, message })
		}
	}
	return faults
}

/** What each kind needs that reports nothing without an option. */
const needs: Partial<Record<Kind, string>> = {
	balance: '`balance_below` or `balance_above`',
	call: '`calls`',
	token: '`tokens: all`, a list, or `known` with tokens of the network',
}

/** Warns of rules by which nothing is ever reported; null: something is, or the settings of the network are wrong. */
export function silenceOf(rules: WatchRules, coin: Coin | null): string | null {
	const { tokens = noTokens, ...network } = coin ?? { tokens: null, decimals: 0, symbol: '' }
	if (tokens === null) return null
	const names = { network: { ...network, tokens }, checksum: String }
	if (rules.kinds.some((kind) => recordOf(kind).chosen(rules, names) !== null)) return null
	const lacking = rules.kinds.map((kind) => `${kind} needs ${needs[kind]}`)
	return `nothing is ever reported of a watch with these options: ${lacking.join('; ')}`
}
