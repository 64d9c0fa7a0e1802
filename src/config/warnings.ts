import { isForbidden } from '../base/net/forbidden.js'
import { noBooksBy, unreportedInWords } from '../core/ledger/kindsNeedingBooks.js'
import type { Problem } from '../errors.js'
import type { WatchSet } from '../model/watch.js'
import { formats } from '../notify/webhook/formats/byName.js'
import type { Settings } from './settings/settings.js'
import { mayHoldShortKey } from './shortKeys.js'
import type { Source } from './yaml/sourceFile.js'

/** Warnings: settings that are valid, but probably a mistake. */
export function warningsOf(settings: Settings, watches: WatchSet, source: Source): readonly Problem[] {
	const { networks, receivers } = settings
	const notified = new Set<string | null>()
	for (const rules of watches.rules) for (const receiver of rules.receivers) notified.add(receiver)
	const fallbacks = new Set(receivers.map(({ fallback }) => fallback))
	const ofNetworks = networks.map((network, index): Found[] => {
		const { name, chainId, rpc, ws } = network
		const before = networks.findIndex((one) => one.chainId === chainId)
		const twin =
			`\`${networks[before]?.name}\` has this \`chain_id\` too: ` +
			'what is watched on both is scanned and sent twice, under the same id'
		const why = noBooksBy(network, watches.networks.get(name)?.index.size ?? 0)
		const unreported = why === null ? null : unreportedInWords(watches.rules, name, why)
		return [
			['name', !watches.networks.has(name) && `no watchlist names the network \`${name}\``],
			['chain_id', before !== index && twin],
			[why === 'off' ? 'proof' : 'name', unreported],
			['rpc', rpc.some(mayHoldShortKey) && shortKey(`an \`rpc\` URL of \`${name}\``)],
			['ws', ws.some(mayHoldShortKey) && shortKey(`a \`ws\` URL of \`${name}\``)],
		]
	})
	const ofReceivers = receivers.map((receiver): Found[] => {
		const { name, fallback } = receiver
		// A receiver that is itself a fallback needs no fallback.
		const isAlone = fallback === null && !fallbacks.has(name) && notified.has(name)
		const alone = `\`${name}\` has no \`fallback\`; if it stops accepting messages, alerts wait and no one is notified`
		const isOpen = receiver.type === 'webhook' && receiver.secret === null && mayHoldShortKey(receiver.url)
		const isVain =
			receiver.type === 'webhook' && receiver.digest !== null && formats[receiver.format].takesDigest === undefined
		const [at, place] = receiver.type === 'webhook' ? ['url', receiver.url] : ['smtp', receiver.smtp]
		const never = `\`${name}\` is at a link-local or metadata address, which is never contacted: nothing reaches it`
		return [
			['name', isAlone && alone],
			[at, isForbidden(new URL(place).hostname) && never],
			['name', !notified.has(name) && !fallbacks.has(name) && `no watch names the receiver \`${name}\``],
			['url', isOpen && shortKey(`the URL of \`${name}\``)],
			['digest', isVain && `the format of \`${name}\` has no digests: each alert is sent alone`],
		]
	})
	const problemsOf = (list: 'networks' | 'receivers', found: readonly Found[][]) =>
		found.flatMap((own, index) =>
			own.flatMap(([key, message]) => (message ? source.problem([list, index, key], message) : [])),
		)
	return [...problemsOf('networks', ofNetworks), ...problemsOf('receivers', ofReceivers)]
}

/** What a key is warned of; nothing: false or null. */
type Found = readonly [key: string, message: string | false | null]

function shortKey(what: string): string {
	return (
		`${what} has a short or word-like part in its path, which logs and messages do not hide; ` +
		'if it is a key, replace it by one of at least 16 random characters'
	)
}
