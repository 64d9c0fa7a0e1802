/** What to do about each weakness that `doctor` found at an endpoint: a list of rules on its report. */

import type { Capabilities } from '../../chain/capabilities/capabilities.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { arbitrumMisses, isArbitrum } from '../../core/chains.js'

type Expected = Pick<NetworkSettings, 'chainId' | 'confirmations' | 'settle'>

/** Fields of an endpoint's report. */
interface Found {
	readonly chainId: string | null
	readonly client: string | null
	readonly headAgeSeconds: number | null
	readonly tags: readonly string[]
	readonly methods: Partial<Capabilities['methods']>
	readonly source: string | null
	readonly trusted: boolean
	readonly blooms: 'plain' | 'extra bits' | 'not known'
}

/** Each weakness with what to do about it; empty when there is nothing to fix. */
export function adviceFor(found: Found, { chainId, confirmations, settle }: Expected): readonly string[] {
	const { headAgeSeconds, source, trusted, client, blooms } = found
	const filter = found.methods.trace_filter
	const lacks = (tag: string) => !found.tags.includes(tag)
	const rules: readonly (readonly [isSo: boolean, words: string])[] = [
		[
			found.chainId !== null && found.chainId !== String(chainId),
			`it is on chain ${found.chainId}, and the configuration says ${chainId}: fix chain_id or the URL`,
		],
		[
			headAgeSeconds !== null && headAgeSeconds > 600,
			`its newest block is ${Math.round((headAgeSeconds ?? 0) / 60)} min old: the node lags or the chain has ` +
				'stopped; prefer another endpoint',
		],
		[
			source !== null && !trusted,
			`\`source: ${source}\` is not what it can do: drop \`source\`, or use another endpoint`,
		],
		[
			source === null,
			'it cannot tell what happens inside of transactions: use a node or a plan with trace_* or debug_* methods',
		],
		[
			trusted && (filter === 'wrong' || filter === 'no'),
			`it ${filter === 'no' ? 'has no trace_filter' : 'gives wrong answers to trace_filter'}, so ${source} is used: ` +
				'catching up takes more requests, and nothing is missed',
		],
		[
			(confirmations === 'safe' || confirmations === 'finalized') && lacks(confirmations),
			`it does not know \`${confirmations}\`: set \`confirmations\` to a number`,
		],
		[
			confirmations !== 'finalized' && settle === 'finalized' && lacks('finalized'),
			'it does not know `finalized`: blocks count as settled after 64 more; set `settle` if that is not right here',
		],
		[isArbitrum(chainId) || /^nitro/i.test(client ?? ''), arbitrumMisses],
		[
			blooms === 'extra bits',
			'the bloom of its newest header has bits of no log that it gives: such blooms prove nothing; compare with an ' +
				'endpoint of another provider, which shows whether the chain makes them so or this one leaves logs out',
		],
	]
	return rules.flatMap(([isSo, words]) => (isSo ? [words] : []))
}

/** What no proof can detect if all headers come from one endpoint; null with several endpoints. */
export function witnessInWords(endpoints: number): string | null {
	if (endpoints !== 1) return null
	return (
		'one endpoint: its answers are checked against headers and balances of its own, which finds out a node that has ' +
		'lost or mixed up something, and none that makes up whole blocks; that takes a second endpoint of another provider'
	)
}
