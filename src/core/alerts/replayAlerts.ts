import { recordOf, usualKinds } from '../../kinds/all.js'
import type { SeenEvent } from '../../kinds/list.js'
import type { Alert, AlertData } from '../../model/alert.js'
import type { Head, Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { TokenWords } from '../../model/token.js'
import type { Network, Watch, WatchIndex } from '../../model/watch.js'
import { eventsByTransaction } from '../events/eventsByTransaction.js'
import { createFloodGate } from '../matching/flood.js'
import { type Match, match } from '../matching/match.js'
import { finalityOf } from '../target.js'
import { type AlertContext, alertOf } from './alert.js'
import { placeOfId, type Repeats } from './alertId.js'
import { assetInWord } from './asset.js'

/** Used as the receiver of an address that no watchlist contains. */
export const noReceiver = '(none)'

/** Watches for a replay: those of the given addresses, or all. An unwatched address gets a watch with default rules. */
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
	readonly tokenWords?: (contract: Address) => TokenWords | null
	readonly repeats?: Repeats
}

/** The alerts of a part by the rules of the watches, regardless of their first blocks. */
export function replayAlerts(part: Part, context: ReplayContext): readonly Alert[] {
	const { network, watches, head, nowMs, checksum, tokenWords, repeats } = context
	const gate = createFloodGate<{ readonly match: Match<SeenEvent>; readonly said: Omit<AlertContext, 'rest'> }>(
		network.tokens,
	)
	for (const { blockNumber, events } of eventsByTransaction(part)) {
		const block = part.blocks.get(blockNumber)
		if (block === undefined) continue
		for (const event of events) gate.note(event)
		const said = {
			network,
			block,
			finality: finalityOf(block.number, head),
			detectedAtMs: nowMs,
			lateReason: 'replayed by hand',
			watches,
			checksum,
			...(tokenWords && { tokenWords }),
			...(repeats && { repeats }),
		}
		for (const found of match(events, watches, () => true, network.tokens)) gate.add({ match: found, said })
	}
	return gate.kept().map(({ one, rest }) => alertOf(one.match, { ...one.said, rest }))
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
