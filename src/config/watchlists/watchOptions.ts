import { usualKinds } from '../../kinds/all.js'
import type { WatchedCalls } from '../../model/abi.js'
import type { Address } from '../../model/glossary.js'
import type { Kind } from '../../model/kind.js'
import type { TokenChoice } from '../../model/token.js'
import type { Thresholds, Watch, WatchRules } from '../../model/watch.js'

/** The options of a watch that one entry can set. */
export type Options = Omit<WatchRules, 'network' | 'watchlist'>

/** Options as the schema outputs them; null: not set. */
export interface OptionsWritten {
	readonly tags: readonly string[]
	readonly kinds: readonly Kind[] | null
	readonly direction: Watch['direction'] | null
	readonly tokens: string | readonly string[] | null
	readonly receivers: readonly string[] | null
	readonly from_block: bigint | null
	readonly calls: readonly string[] | null
	readonly failed_calls: boolean | null
	readonly allowed_code: readonly Address[] | null
	readonly reads: readonly string[] | null
}

/** Options of a watch that sets none. */
export const usual: Options = Object.freeze({
	tags: Object.freeze([]),
	kinds: usualKinds,
	direction: 'both',
	minValueWei: 1n,
	receivers: Object.freeze([]),
	fromBlock: null,
})

/** Options that depend on the network's coin and tokens, and functions; null: not set. */
export interface OptionsRead {
	readonly minValueWei: bigint | null
	readonly belowWei: bigint | null
	readonly aboveWei: bigint | null
	readonly tokens: TokenChoice | null
	readonly functions: WatchedCalls['functions'] | null
}

/** Overrides the options in `base` with those that are set; tags are added to those in `base`. */
export function withOptions(written: OptionsWritten, read: OptionsRead, base: Options): Options {
	const { minValueWei, belowWei, aboveWei, tokens, functions } = read
	const {
		tags,
		kinds,
		direction,
		receivers,
		from_block: fromBlock,
		failed_calls: failed,
		allowed_code: allowed,
		reads,
	} = written
	const amounts = [minValueWei, belowWei, aboveWei]
	const said = [kinds, direction, receivers, fromBlock, tokens, functions, failed, allowed, reads, ...amounts].some(
		(one) => one !== null,
	)
	// Shared, so that many watches without options take no memory of their own.
	if (!said && tags.length === 0) return base
	return {
		...base,
		tags: withTags(base.tags, tags),
		kinds: kinds === null ? base.kinds : Object.freeze([...kinds]),
		direction: direction ?? base.direction,
		minValueWei: minValueWei ?? base.minValueWei,
		...(tokens === null ? {} : { tokens }),
		receivers: receivers === null ? base.receivers : Object.freeze([...receivers]),
		fromBlock: fromBlock ?? base.fromBlock,
		...thresholdsOf(belowWei ?? base.thresholds?.belowWei ?? null, aboveWei ?? base.thresholds?.aboveWei ?? null),
		...callsOf(functions, failed, base.calls),
		...(allowed === null ? {} : { allowedCode: Object.freeze([...allowed]) }),
		...(reads === null ? {} : { reads: Object.freeze([...new Set(reads)]) }),
	}
}

function thresholdsOf(belowWei: bigint | null, aboveWei: bigint | null): { readonly thresholds?: Thresholds } {
	return belowWei === null && aboveWei === null ? {} : { thresholds: { belowWei, aboveWei } }
}

function callsOf(
	functions: WatchedCalls['functions'] | null,
	failed: boolean | null,
	base: WatchedCalls | undefined,
): { readonly calls?: WatchedCalls } {
	if (functions === null && failed === null) return {}
	const chosen = functions ?? base?.functions ?? new Map()
	return { calls: Object.freeze({ functions: chosen, failed: failed ?? base?.failed ?? false }) }
}

/** Both lists without duplicates; returns `base` itself when `own` is empty. */
export function withTags(base: readonly string[], own: readonly string[]): readonly string[] {
	if (own.length === 0) return base
	return Object.freeze(base.length === 0 ? [...own] : [...new Set([...base, ...own])])
}
