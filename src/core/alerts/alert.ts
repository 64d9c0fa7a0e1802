/**
 * The room turns matches into alerts with ids. `explainFrames.ts` and `replay.ts` produce the same for the
 * commands.
 */

import { recordOf } from '../../kinds/all.js'
import type { Finding } from '../../kinds/list.js'
import type { Happened, View } from '../../kinds/record.js'
import type { Alert, AlertData, Finality } from '../../model/alert.js'
import type { Block, BlockRef } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { WatchIndex } from '../../model/watch.js'
import type { Rest } from '../matching/flood.js'
import { type IsCovered, type Match, match, sides } from '../matching/match.js'
import { alertId, type Repeats } from './alertId.js'

export interface AlertContext extends Omit<View, 'watch' | 'direction'> {
	readonly block: Block
	readonly finality: Finality
	readonly detectedAtMs: number
	/** Why the alert is late; null when it is not. */
	readonly lateReason: string | null
	/** For a flood of unknown tokens or calls: the transfers or calls of the block that get no alert. Default: none. */
	readonly rest?: Rest | null
	/** Source of the counterparty's labels. */
	readonly watches: WatchIndex
	/** Default: none. */
	readonly repeats?: Repeats
}

/** Puts a match into the fields that receivers get; amounts and numbers become text here. */
export function alertOf({ event, watch, direction, receivers }: Match<Happened>, context: AlertContext): Alert {
	const { network, block, detectedAtMs, lateReason, checksum, rest = null } = context
	const blockMs = Number(block.timestampS) * 1000
	const fields = recordOf(event.kind).fields(event, { ...context, watch, direction })
	const counterpartyLabel = otherLabel(event, fields.from, watch.address, context.watches)
	const data: AlertData = {
		id: alertId(network.chainId, event, watch.address, context.repeats),
		network: network.name,
		chainId: network.chainId,
		blockNumber: Number(block.number),
		blockHash: block.hash,
		blockTimestamp: new Date(blockMs).toISOString(),
		kind: event.kind,
		...fields,
		...(rest === null ? {} : 'count' in rest ? rest : { ...rest, moreContracts: rest.moreContracts.map(checksum) }),
		watch: {
			address: checksum(watch.address),
			label: watch.label,
			tags: watch.tags,
			watchlist: watch.watchlist,
		},
		...(counterpartyLabel === null ? {} : { counterpartyLabel }),
		direction,
		finality: context.finality,
		detectedAt: new Date(detectedAtMs).toISOString(),
		lagSeconds: Math.max(0, Math.round((detectedAtMs - blockMs) / 1000)),
		late: lateReason !== null,
		...(lateReason === null ? {} : { lateReason }),
		...(network.explorer === null ? {} : { links: linksOf(network.explorer, fields, block) }),
	}
	return { type: `alert.${event.kind}`, data, receivers }
}

export interface FindingContext
	extends Pick<AlertContext, 'network' | 'watches' | 'checksum' | 'detectedAtMs' | 'repeats'> {
	readonly isCovered: IsCovered
	readonly finalityOf: (blockNumber: bigint) => Finality
	readonly lateReason: (block: Block) => string | null
}

/** The alerts of one finding, each receiver once, in the order of the watchlists. */
export function findingAlerts(finding: Finding, context: FindingContext): readonly Alert[] {
	const { block } = finding
	return match([finding], context.watches, context.isCovered).map((one) =>
		alertOf(one, {
			...context,
			block,
			finality: context.finalityOf(block.number),
			lateReason: context.lateReason(block),
		}),
	)
}

/** `caller`: of a call, and of foreign code, which concern the contract alone. */
function otherLabel(event: Happened, caller: string | null, own: Address, watches: WatchIndex): string | null {
	const side = sides(event).find(({ address }) => address !== own)
	const other = side?.address ?? (caller?.toLowerCase() as Address | undefined)
	if (other === undefined || other === own) return null
	return watches.get(other)?.find((watch) => watch.label !== null)?.label ?? null
}

function linksOf(explorer: string, { txHash, from, to }: Pick<AlertData, 'txHash' | 'from' | 'to'>, block: BlockRef) {
	const blockLink = `${explorer}/block/${block.number}`
	return {
		// An event without a transaction, such as a reward, carries the hash of its block.
		tx: txHash === block.hash ? blockLink : `${explorer}/tx/${txHash}`,
		...(from === null ? {} : { from: `${explorer}/address/${from}` }),
		to: `${explorer}/address/${to}`,
		block: blockLink,
	}
}
