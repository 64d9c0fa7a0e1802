import { noBooksBy, unreportedInWords } from '../core/ledger/kindsNeedingBooks.js'
import type { Problem } from '../errors.js'
import type { WatchSet } from '../model/watch.js'
import type { Settings } from './settings/settings.js'
import { mayHoldShortKey } from './shortKeys.js'
import type { Source } from './yaml/sourceFile.js'

/** Warnings: settings that are valid, but probably a mistake. */
export function warningsOf(settings: Settings, watches: WatchSet, source: Source): readonly Problem[] {
	const { networks, receivers } = settings
	const notified = new Set<string | null>()
	for (const rules of watches.rules) for (const receiver of rules.receivers) notified.add(receiver)
	const fallbacks = new Set(receivers.map(({ fallback }) => fallback))
	const warning = (list: 'networks' | 'receivers', index: number, key: string, message: string) =>
		source.problem([list, index, key], message)
	return [
		...networks.flatMap(({ name }, index) =>
			watches.networks.has(name)
				? []
				: [warning('networks', index, 'name', `no watchlist names the network \`${name}\``)],
		),
		...networks.flatMap(({ chainId }, index) => {
			const before = networks.findIndex((network) => network.chainId === chainId)
			if (before === index) return []
			const message =
				`\`${networks[before]?.name}\` has this \`chain_id\` too: ` +
				'what is watched on both is scanned and sent twice, under the same id'
			return [warning('networks', index, 'chain_id', message)]
		}),
		...networks.flatMap((network, index) => {
			const why = noBooksBy(network, watches.networks.get(network.name)?.index.size ?? 0)
			const message = why === null ? null : unreportedInWords(watches.rules, network.name, why)
			return message === null ? [] : [warning('networks', index, why === 'off' ? 'proof' : 'name', message)]
		}),
		...receivers.flatMap(({ name, fallback }, index) => {
			// A receiver that is itself a fallback needs no fallback.
			if (fallback !== null || fallbacks.has(name) || !notified.has(name)) return []
			const effect = 'if it stops accepting messages, alerts wait and no one is notified'
			const message = `\`${name}\` has no \`fallback\`; ${effect}`
			return [warning('receivers', index, 'name', message)]
		}),
		...receivers.flatMap(({ name }, index) =>
			notified.has(name) || fallbacks.has(name)
				? []
				: [warning('receivers', index, 'name', `no watch names the receiver \`${name}\``)],
		),
		...networks.flatMap(({ name, rpc, ws }, index) => [
			...(rpc.some(mayHoldShortKey)
				? [warning('networks', index, 'rpc', shortKey(`an \`rpc\` URL of \`${name}\``))]
				: []),
			...(ws.some(mayHoldShortKey) ? [warning('networks', index, 'ws', shortKey(`a \`ws\` URL of \`${name}\``))] : []),
		]),
		...receivers.flatMap((receiver, index) =>
			receiver.type === 'webhook' && receiver.secret === null && mayHoldShortKey(receiver.url)
				? [warning('receivers', index, 'url', shortKey(`the URL of \`${receiver.name}\``))]
				: [],
		),
	]
}

function shortKey(what: string): string {
	return (
		`${what} has a short or word-like part in its path, which logs and messages do not hide; ` +
		'if it is a key, replace it by one of at least 16 random characters'
	)
}
