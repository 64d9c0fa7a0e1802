/** Which watches a replay has, and the rows of its table. */

import { recordOf, usualKinds } from '../../kinds/all.js'
import type { AlertData } from '../../model/alert.js'
import type { Address } from '../../model/glossary.js'
import type { Kind } from '../../model/kind.js'
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

const columns: Readonly<Record<string, (data: AlertData) => string>> = {
	block: ({ blockNumber }) => String(blockNumber),
	time: ({ blockTimestamp }) => blockTimestamp.replace('.000Z', 'Z'),
	kind: ({ kind }) => kind,
	direction: ({ direction }) => direction,
	value: ({ value, token }) => value ?? token?.amountRaw ?? '',
	asset: assetInWord,
	from: ({ from }) => from ?? '',
	to: ({ to }) => to,
	watch: ({ watch }) => watch.label ?? watch.address,
	tx: ({ txHash }) => txHash,
	trace: placeOf,
	/** The address that the counterparty imitates. */
	lookalike: ({ lookalike }) => lookalike?.of ?? '',
}

export const replayColumns = Object.keys(columns)

export function replayRow(data: AlertData): readonly string[] {
	return Object.values(columns).map((column) => column(data))
}

/** Of the frame, or of the log as in the id. */
function placeOf({ id, token, traceAddress }: AlertData): string {
	if (token !== undefined) return placeOfId(id)
	return traceAddress.length === 0 ? 'root' : traceAddress.join('_')
}

/** What these watches report and a replay does not: the daemon finds it in the state of the chain. */
export function notReplayed(watches: WatchIndex): readonly Kind[] {
	const all = watches.rules?.() ?? [...watches.values()].flat()
	const kinds = new Set(all.flatMap((rules) => rules.kinds))
	return [...kinds].filter((kind) => !replayed.has(recordOf(kind).seenIn))
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
