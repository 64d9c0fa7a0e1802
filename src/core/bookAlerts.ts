/** The alerts of what no frame tells. */

import type { Alert, AlertData } from '../model/alert.js'
import type { Block, BlockRef } from '../model/chain.js'
import type { Address, Hash } from '../model/glossary.js'
import type { Network, Thresholds, Watch, WatchIndex } from '../model/watch.js'
import { formatAmount } from './amount.js'
import { type Crossing, type Finding, findingId, type Unexplained } from './findings.js'
import { type IsCovered, isEnough } from './match.js'

/** What an alert says besides the finding. */
export interface FindingFacts {
	readonly network: Network
	readonly watches: WatchIndex
	readonly isCovered: IsCovered
	readonly finalityOf: (blockNumber: bigint) => AlertData['finality']
	readonly detectedAtMs: number
	readonly lateReason: (block: Block) => string | null
	readonly checksum: (address: Address) => string
}

/** The alerts of one finding, each receiver once, in the order of the watchlists. */
export function findingAlerts(finding: Finding, facts: FindingFacts): readonly Alert[] {
	const reached = new Set<string>()
	return (facts.watches.get(finding.address) ?? []).flatMap((watch): Alert[] => {
		// A threshold is about what is, whenever it came to be.
		const isOfItsTime = finding.kind === 'balance' || facts.isCovered(watch, finding.block.number)
		if (!wants(watch, finding) || !isOfItsTime) return []
		const receivers = watch.receivers.filter((receiver) => !reached.has(receiver))
		if (receivers.length === 0) return []
		for (const receiver of receivers) reached.add(receiver)
		return [{ type: `alert.${finding.kind}`, data: dataOf(finding, watch, facts), receivers }]
	})
}

function wants(watch: Watch, finding: Finding): boolean {
	if (!watch.kinds.includes(finding.kind)) return false
	switch (finding.kind) {
		case 'withdrawal':
		case 'income':
			return watch.direction !== 'out' && isEnough(finding.wei, watch)
		case 'balance':
			return isCrossed(watch, finding)
		// How little it is says nothing of what stands behind it.
		default:
			return true
	}
}

function isCrossed({ thresholds }: Watch, { crossed, previousWei, balanceWei }: Crossing): boolean {
	const limitWei = thresholdOf(thresholds, crossed)
	if (limitWei === null || !isBeyond(balanceWei, crossed, limitWei)) return false
	return previousWei === null || !isBeyond(previousWei, crossed, limitWei)
}

/** Whether a balance is past a threshold; one that equals it is not. */
export function isBeyond(wei: bigint, crossed: Crossing['crossed'], limitWei: bigint): boolean {
	return crossed === 'below' ? wei < limitWei : wei > limitWei
}

/** Of that direction; null where a watch has none. */
export function thresholdOf(thresholds: Thresholds | undefined, crossed: Crossing['crossed']): bigint | null {
	return (crossed === 'below' ? thresholds?.belowWei : thresholds?.aboveWei) ?? null
}

function dataOf(finding: Finding, watch: Watch, facts: FindingFacts): AlertData {
	const { network, detectedAtMs, checksum } = facts
	const { block, kind } = finding
	const blockMs = Number(block.timestampS) * 1000
	const lateReason = facts.lateReason(block)
	const { wei, direction } = amountOf(finding)
	const address = checksum(finding.address)
	const authorised = finding.kind === 'delegation' ? finding.authorised : null
	return {
		id: findingId(network.chainId, finding),
		network: network.name,
		chainId: network.chainId,
		blockNumber: Number(block.number),
		blockHash: block.hash,
		blockTimestamp: new Date(blockMs).toISOString(),
		// Where there is no transaction the block names it, as for a reward.
		txHash: authorised?.txHash ?? block.hash,
		txIndex: authorised?.txIndex ?? null,
		traceAddress: [],
		kind,
		frameType: kind === 'unexplained' ? 'balance' : kind,
		category: 'external',
		from: null,
		to: address,
		...(authorised === null ? {} : { initiator: checksum(authorised.initiator) }),
		valueWei: wei.toString(),
		value: formatAmount(wei, network.decimals),
		asset: network.symbol,
		watch: { address, label: watch.label, tags: watch.tags, watchlist: watch.watchlist },
		direction,
		finality: facts.finalityOf(block.number),
		detectedAt: new Date(detectedAtMs).toISOString(),
		lagSeconds: Math.max(0, Math.round((detectedAtMs - blockMs) / 1000)),
		late: lateReason !== null,
		...(lateReason === null ? {} : { lateReason }),
		...ownFields(finding, watch, facts),
		...(network.explorer === null ? {} : { links: linksOf(network.explorer, address, block, authorised?.txHash) }),
	}
}

/** What moved, without its sign; of a crossing the balance itself. */
function amountOf(finding: Finding): { readonly wei: bigint; readonly direction: AlertData['direction'] } {
	switch (finding.kind) {
		case 'withdrawal':
		case 'income':
			return { wei: finding.wei, direction: 'in' }
		case 'delegation':
			return { wei: 0n, direction: 'self' }
		case 'balance':
			return { wei: finding.balanceWei, direction: finding.crossed === 'below' ? 'out' : 'in' }
		case 'unexplained': {
			const wei = differenceOf(finding)
			return { wei: wei < 0n ? -wei : wei, direction: wei < 0n ? 'out' : 'in' }
		}
	}
}

function differenceOf({ openingWei, closingWei, explainedWei }: Unexplained): bigint {
	return closingWei - openingWei - explainedWei
}

/** The fields that only this kind has. */
function ownFields(finding: Finding, watch: Watch, { network, checksum }: FindingFacts): Partial<AlertData> {
	const coins = (wei: bigint) => formatAmount(wei, network.decimals)
	switch (finding.kind) {
		case 'withdrawal':
			return { index: String(finding.index), validatorIndex: String(finding.validatorIndex) }
		case 'delegation': {
			const { authorised, delegate, previous } = finding
			return {
				delegate: delegate === null ? null : checksum(delegate),
				previous: previous === undefined || previous === null ? null : checksum(previous),
				...(previous === undefined && { confirmed: false }),
				authorisation:
					authorised === null ? null : { chainId: Number(authorised.chainId), nonce: Number(authorised.nonce) },
			}
		}
		case 'income':
			return { transactions: finding.transactions }
		case 'balance': {
			const { crossed, balanceWei } = finding
			const threshold = coins(thresholdOf(watch.thresholds, crossed) ?? 0n)
			return { balanceWei: String(balanceWei), balance: coins(balanceWei), threshold, crossed }
		}
		case 'unexplained':
			return {
				fromBlock: Number(finding.span.from),
				toBlock: Number(finding.span.to),
				openingWei: String(finding.openingWei),
				closingWei: String(finding.closingWei),
				explainedWei: String(finding.explainedWei),
				differenceWei: String(differenceOf(finding)),
				difference: coins(differenceOf(finding)),
				endpoints: finding.endpoints,
				reason: finding.reason,
			}
	}
}

function linksOf(explorer: string, address: string, { number }: BlockRef, txHash: Hash | undefined) {
	const block = `${explorer}/block/${number}`
	const tx = txHash === undefined ? block : `${explorer}/tx/${txHash}`
	return { tx, to: `${explorer}/address/${address}`, block }
}
