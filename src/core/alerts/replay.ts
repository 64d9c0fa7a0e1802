/** Which watches a replay has, and the rows of its table. */

import { recordOf, usualKinds } from '../../kinds/all.js'
import type { AlertData } from '../../model/alert.js'
import type { Address } from '../../model/glossary.js'
import type { Watch, WatchIndex } from '../../model/watch.js'
import { placeOfId } from './alertId.js'
import { assetInWord } from './asset.js'

/** Used as the receiver of an address that no watchlist contains. */
export const noReceiver = '(none)'

/** Watches for a replay: those of the given addresses, or all. An unwatched address gets a watch with default rules. */
export function replayWatches(network: string, watches: WatchIndex, addresses: readonly Address[]): WatchIndex {
	if (addresses.length === 0) return watches
	return new Map(addresses.map((address) => [address, watches.get(address) ?? [plainWatch(network, address)]]))
}

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
	/** The address that the counterparty imitates. */
	'lookalike',
] as const

export function replayRow(data: AlertData): readonly string[] {
	return [
		String(data.blockNumber),
		data.blockTimestamp.replace('.000Z', 'Z'),
		data.kind,
		data.direction,
		data.value ?? data.token?.amountRaw ?? '',
		assetInWord(data),
		data.from ?? '',
		data.to,
		data.watch.label ?? data.watch.address,
		data.txHash,
		placeOf(data),
		data.lookalike?.of ?? '',
	]
}

/** Of the frame, or of the log as in the id. */
function placeOf({ id, token, traceAddress }: AlertData): string {
	if (token !== undefined) return placeOfId(id)
	return traceAddress.length === 0 ? 'root' : traceAddress.join('_')
}

/** A part shows the events of these kinds without further requests. */
const replayed: ReadonlySet<string> = new Set(['frames', 'calls', 'logs', 'header'])

function plainWatch(network: string, address: Address): Watch {
	return {
		network,
		address,
		label: null,
		tags: [],
		kinds: usualKinds.filter((kind) => replayed.has(recordOf(kind).seenIn)),
		direction: 'both',
		minValueWei: 1n,
		receivers: [noReceiver],
		fromBlock: null,
		watchlist: '(named by --address)',
	}
}
