import { noBooksBy, untoldInWords } from '../core/untold.js'
import type { Problem } from '../errors.js'
import type { WatchSet } from '../model/watch.js'
import type { Settings } from './settings/settings.js'
import { inOrder, type Source } from './source.js'

/** What is right, but probably not meant. */
export function warningsOf(settings: Settings, watches: WatchSet, source: Source): readonly Problem[] {
	const { networks, receivers } = settings
	const notified = new Set<string | null>()
	for (const rules of watches.rules) for (const receiver of rules.receivers) notified.add(receiver)
	const fallbacks = new Set(receivers.map(({ fallback }) => fallback))
	const warning = (list: 'networks' | 'receivers', index: number, key: string, message: string) =>
		source.problem([list, index, key], message)
	return inOrder([
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
				'what is watched on both is scanned and told twice, under the same id'
			return [warning('networks', index, 'chain_id', message)]
		}),
		...networks.flatMap((network, index) => {
			const why = noBooksBy(network, watches.networks.get(network.name)?.index.size ?? 0)
			const message = why === null ? null : untoldInWords(watches.rules, network.name, why)
			return message === null ? [] : [warning('networks', index, why === 'off' ? 'proof' : 'name', message)]
		}),
		...receivers.flatMap(({ name, fallback }, index) => {
			// One that others fall back to may be the last.
			if (fallback !== null || fallbacks.has(name) || !notified.has(name)) return []
			const message = `\`${name}\` has no \`fallback\`: when it takes nothing more, nobody is told of that`
			return [warning('receivers', index, 'name', message)]
		}),
		...receivers.flatMap(({ name }, index) =>
			notified.has(name) || fallbacks.has(name)
				? []
				: [warning('receivers', index, 'name', `no watch names the receiver \`${name}\``)],
		),
	])
}
