import type { Alert, AlertData } from '../model/alert.js'
import type { Head, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { TokenWords } from '../model/token.js'
import type { Network, Watch, WatchIndex } from '../model/watch.js'
import { type AlertContext, alertOf } from './alert.js'
import { assetInWord } from './asset.js'
import { findingAlerts } from './bookAlerts.js'
import { withdrawalFindings } from './findings.js'
import { createFloodGate } from './flood.js'
import { happeningsIn } from './happenings.js'
import { type Match, match } from './match.js'
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
	readonly tokenWords?: (contract: Address) => TokenWords | null
}

/** The alerts of a part by the rules of the watches, whatever their first blocks are. */
export function replayAlerts(part: Part, context: ReplayContext): readonly Alert[] {
	const { network, watches, head, nowMs, checksum, tokenWords } = context
	const gate = createFloodGate<{ readonly match: Match; readonly said: Omit<AlertContext, 'more'> }>(network.tokens)
	for (const { blockNumber, events } of happeningsIn(part)) {
		const block = part.blocks.get(blockNumber)
		if (block === undefined) continue
		const said = {
			network,
			block,
			finality: finalityOf(block.number, head),
			detectedAtMs: nowMs,
			lateReason: 'replayed by hand',
			watches,
			checksum,
			...(tokenWords && { tokenWords }),
		}
		for (const found of match(events, watches, () => true, network.tokens)) gate.add({ match: found, said })
	}
	const ofFrames = gate.kept.map(({ one, more }) => alertOf(one.match, { ...one.said, more }))
	const ofHeaders = withdrawalFindings(part).flatMap((finding) =>
		findingAlerts(finding, {
			network,
			watches,
			isCovered: () => true,
			finalityOf: (number) => finalityOf(number, head),
			detectedAtMs: nowMs,
			lateReason: () => 'replayed by hand',
			checksum,
		}),
	)
	const byBlock = (a: Alert, b: Alert) => a.data.blockNumber - b.data.blockNumber
	return ofHeaders.length === 0 ? ofFrames : [...ofFrames, ...ofHeaders].sort(byBlock)
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
	/** Whom the other side imitates. */
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
	if (token !== undefined) return id.split(':')[2] ?? ''
	return traceAddress.length === 0 ? 'root' : traceAddress.join('_')
}

function plainWatch(network: string, address: Address): Watch {
	return {
		network,
		address,
		label: null,
		tags: [],
		kinds: ['transfer', 'deployment', 'token', 'withdrawal'],
		direction: 'both',
		minValueWei: 1n,
		receivers: [noReceiver],
		fromBlock: null,
		watchlist: '(named by --address)',
	}
}
