import { usualKinds } from '../../core/kinds.js'
import type { TokenChoice } from '../../model/token.js'
import type { Kind, Thresholds, Watch } from '../../model/watch.js'

/** What a watch says besides its address and label. */
export type Options = Pick<
	Watch,
	'tags' | 'kinds' | 'direction' | 'minValueWei' | 'tokens' | 'receivers' | 'fromBlock' | 'thresholds'
>

/** As the schema gives them; null: not said. */
export interface OptionsWritten {
	readonly tags: readonly string[]
	readonly kinds: readonly Kind[] | null
	readonly direction: Watch['direction'] | null
	readonly tokens: string | readonly string[] | null
	readonly receivers: readonly string[] | null
	readonly from_block: bigint | null
}

/** Of a watch for which nothing is said. */
export const usual: Options = Object.freeze({
	tags: Object.freeze([]),
	kinds: usualKinds,
	direction: 'both',
	minValueWei: 1n,
	receivers: Object.freeze([]),
	fromBlock: null,
})

/** What needs the network to be understood; null: not said. */
export interface OptionsRead {
	readonly minValueWei: bigint | null
	readonly belowWei: bigint | null
	readonly aboveWei: bigint | null
	readonly tokens: TokenChoice | null
}

/** What is said, over what holds around it; tags come on top of those around. */
export function withOptions(written: OptionsWritten, read: OptionsRead, base: Options): Options {
	const { minValueWei, belowWei, aboveWei, tokens } = read
	const { tags, kinds, direction, receivers, from_block: fromBlock } = written
	const amounts = [minValueWei, belowWei, aboveWei]
	const said = [kinds, direction, receivers, fromBlock, tokens, ...amounts].some((one) => one !== null)
	// Shared, so that many watches that say nothing cost nothing.
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
	}
}

function thresholdsOf(belowWei: bigint | null, aboveWei: bigint | null): { readonly thresholds?: Thresholds } {
	return belowWei === null && aboveWei === null ? {} : { thresholds: { belowWei, aboveWei } }
}

/** Both, each tag once; shared where one of them says it all. */
export function withTags(base: readonly string[], own: readonly string[]): readonly string[] {
	if (own.length === 0) return base
	return Object.freeze(base.length === 0 ? [...own] : [...new Set([...base, ...own])])
}
