import type { TokenChoice } from '../../model/token.js'
import type { Kind, Watch } from '../../model/watch.js'

/** What a watch says besides its address and label. */
export type Options = Pick<Watch, 'tags' | 'kinds' | 'direction' | 'minValueWei' | 'tokens' | 'receivers' | 'fromBlock'>

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
	kinds: Object.freeze(['transfer', 'deployment', 'token', 'withdrawal', 'unexplained'] as const),
	direction: 'both',
	minValueWei: 1n,
	receivers: Object.freeze([]),
	fromBlock: null,
})

/** What needs the network to be understood; null: not said. */
export interface OptionsRead {
	readonly minValueWei: bigint | null
	readonly tokens: TokenChoice | null
}

/** What is said, over what holds around it; tags come on top of those around. */
export function withOptions(written: OptionsWritten, { minValueWei, tokens }: OptionsRead, base: Options): Options {
	const { tags, kinds, direction, receivers, from_block: fromBlock } = written
	const said = [kinds, direction, receivers, fromBlock, minValueWei, tokens].some((one) => one !== null)
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
	}
}

/** Both, each tag once; shared where one of them says it all. */
export function withTags(base: readonly string[], own: readonly string[]): readonly string[] {
	if (own.length === 0) return base
	return Object.freeze(base.length === 0 ? [...own] : [...new Set([...base, ...own])])
}
