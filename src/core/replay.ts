import type { AlertData } from '../model/alert.js'
import type { Head, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Network, Watch, WatchIndex } from '../model/watch.js'
import { alertOf } from './alert.js'
import { eventsOf } from './events.js'
import { match } from './match.js'
import { finalityOf } from './target.js'

/** Stands where an address that no watchlist names has no receivers. */
export const noReceiver = '(none)'

/** Watches for a replay: those of the addresses named, or all; an address that is not watched gets a plain watch. */
export function replayWatches(network: string, watches: WatchIndex, addresses: readonly Address[]): WatchIndex {
	if (addresses.length === 0) return watches
	return new Map(addresses.map((address) => [address, watches.get(address) ?? [plainWatch(network, address)]]))
}

export interface ReplayContext {
	readonly network: Network
	readonly watches: WatchIndex
	readonly head: Head
	readonly nowMs: number
	readonly checksum: (address: Address) => string
}

/** The alerts of a part by the rules of the watches, whatever their first blocks are. */
export function replayAlerts(part: Part, { network, watches, head, nowMs, checksum }: ReplayContext) {
	return part.transactions.flatMap((tx) => {
		const block = part.blocks.get(tx.block.number)
		if (block === undefined) return []
		const context = {
			network,
			block,
			finality: finalityOf(block.number, head),
			detectedAtMs: nowMs,
			lateReason: 'replayed by hand',
			watches,
			checksum,
		}
		return match(eventsOf(tx), watches, () => true).map((found) => alertOf(found, context))
	})
}

/** Columns of a replay, for tables and CSV. */
export const replayColumns = [
	'block',
	'time',
	'kind',
	'direction',
	'value',
	'asset',
	'from',
	'to',
	'watch',
	'tx',
	'trace',
] as const

export function replayRow(data: AlertData): readonly string[] {
	return [
		String(data.blockNumber),
		data.blockTimestamp.replace('.000Z', 'Z'),
		data.kind,
		data.direction,
		data.value,
		data.asset,
		data.from ?? '',
		data.to,
		data.watch.label ?? data.watch.address,
		data.txHash,
		data.traceAddress.length === 0 ? 'root' : data.traceAddress.join('_'),
	]
}

function plainWatch(network: string, address: Address): Watch {
	return {
		network,
		address,
		label: null,
		tags: [],
		kinds: ['transfer', 'deployment'],
		direction: 'both',
		minValueWei: 1n,
		receivers: [noReceiver],
		fromBlock: null,
		watchlist: '(named by --address)',
	}
}
