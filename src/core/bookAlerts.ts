import type { Alert, AlertData } from '../model/alert.js'
import type { Block, BlockRef, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Announcement } from '../model/state.js'
import type { Network, Watch, WatchIndex } from '../model/watch.js'
import { formatAmount } from './amount.js'
import type { Difference } from './compare.js'
import { isAnnounced } from './compare.js'
import type { IsCovered } from './match.js'

/** What the books found that no frame tells. */
export type Finding = Withdrawal | Unexplained

export interface Withdrawal {
	readonly kind: 'withdrawal'
	readonly address: Address
	readonly block: Block
	readonly wei: bigint
	/** Its number over the whole chain. */
	readonly index: bigint
	readonly validatorIndex: bigint
}

export interface Unexplained {
	readonly kind: 'unexplained'
	readonly address: Address
	/** Of `span.to`. */
	readonly block: Block
	/** The smallest that the difference could be found in. */
	readonly span: Span
	readonly openingWei: bigint
	readonly closingWei: bigint
	readonly explainedWei: bigint
	/** Hosts. */
	readonly endpoints: readonly string[]
	readonly reason: string
}

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

export function findingId(chainId: number, finding: Finding): string {
	const { kind, address } = finding
	if (kind === 'withdrawal') return `${chainId}:withdrawal:${finding.index}:withdrawal:${address}`
	return `${chainId}:${finding.span.from}-${finding.span.to}:balance:unexplained:${address}`
}

/** The alerts of one finding, each receiver once, in the order of the watchlists. */
export function findingAlerts(finding: Finding, facts: FindingFacts): readonly Alert[] {
	const told = new Set<string>()
	return (facts.watches.get(finding.address) ?? []).flatMap((watch): Alert[] => {
		if (!wants(watch, finding) || !facts.isCovered(watch, finding.block.number)) return []
		const receivers = watch.receivers.filter((receiver) => !told.has(receiver))
		if (receivers.length === 0) return []
		for (const receiver of receivers) told.add(receiver)
		return [{ type: `alert.${finding.kind}`, data: dataOf(finding, watch, facts), receivers }]
	})
}

function wants(watch: Watch, finding: Finding): boolean {
	if (!watch.kinds.includes(finding.kind)) return false
	// How little it is says nothing of what stands behind it.
	if (finding.kind === 'unexplained') return true
	return watch.direction !== 'out' && finding.wei >= watch.minValueWei
}

function dataOf(finding: Finding, watch: Watch, facts: FindingFacts): AlertData {
	const { network, detectedAtMs, checksum } = facts
	const { block, kind } = finding
	const blockMs = Number(block.timestampS) * 1000
	const lateReason = facts.lateReason(block)
	const differenceWei =
		finding.kind === 'withdrawal' ? finding.wei : finding.closingWei - finding.openingWei - finding.explainedWei
	const sizeWei = differenceWei < 0n ? -differenceWei : differenceWei
	const address = checksum(finding.address)
	const value = formatAmount(sizeWei, network.decimals)
	return {
		id: findingId(network.chainId, finding),
		network: network.name,
		chainId: network.chainId,
		blockNumber: Number(block.number),
		blockHash: block.hash,
		blockTimestamp: new Date(blockMs).toISOString(),
		// No transaction: the block names it, as for a reward.
		txHash: block.hash,
		txIndex: null,
		traceAddress: [],
		kind,
		frameType: kind === 'withdrawal' ? 'withdrawal' : 'balance',
		category: 'external',
		from: null,
		to: address,
		valueWei: sizeWei.toString(),
		value,
		asset: network.symbol,
		watch: { address, label: watch.label, tags: watch.tags, watchlist: watch.watchlist },
		direction: differenceWei < 0n ? 'out' : 'in',
		finality: facts.finalityOf(block.number),
		detectedAt: new Date(detectedAtMs).toISOString(),
		lagSeconds: Math.max(0, Math.round((detectedAtMs - blockMs) / 1000)),
		late: lateReason !== null,
		...(lateReason === null ? {} : { lateReason }),
		...(finding.kind === 'withdrawal'
			? { index: String(finding.index), validatorIndex: String(finding.validatorIndex) }
			: {
					fromBlock: Number(finding.span.from),
					toBlock: Number(finding.span.to),
					openingWei: String(finding.openingWei),
					closingWei: String(finding.closingWei),
					explainedWei: String(finding.explainedWei),
					differenceWei: String(differenceWei),
					difference: `${differenceWei < 0n ? '-' : ''}${value}`,
					endpoints: finding.endpoints,
					reason: finding.reason,
				}),
		...(network.explorer === null ? {} : { links: linksOf(network.explorer, address, block) }),
	}
}

function linksOf(explorer: string, address: string, { number }: BlockRef) {
	const block = `${explorer}/block/${number}`
	return { tx: block, to: `${explorer}/address/${address}`, block }
}

/** Alerts of one id. `proved`: of an event that not every endpoint tells of. */
export interface Found {
	readonly alerts: readonly Alert[]
	readonly proved?: true
}

/** The difference with these alerts in it, but for those that were announced and still stand. */
export function withFindings(
	difference: Difference,
	found: readonly Found[],
	retracted: readonly Announcement[],
	announcements: ReadonlyMap<string, Announcement>,
): Difference {
	const news = [...difference.news]
	const changed = [...difference.announcements]
	const now = new Map(changed.map((entry) => [entry.id, entry]))
	const known = new Set(news.flatMap(({ alerts }) => alerts.map(({ data }) => data.id)))
	for (const { alerts, proved } of found) {
		const data = alerts[0]?.data
		if (data === undefined || known.has(data.id)) continue
		known.add(data.id)
		const before = now.get(data.id) ?? announcements.get(data.id)
		if (before !== undefined && isAnnounced(before)) continue
		const revision = before === undefined ? 0 : before.revision + 1
		const block = { number: BigInt(data.blockNumber), hash: data.blockHash }
		news.push({ alerts, revision })
		changed.push({
			id: data.id,
			block,
			txHash: data.txHash,
			alerts,
			status: 'announced',
			revision,
			...(proved && { proved }),
		})
	}
	const gone = retracted.map((entry): Announcement => ({ ...entry, status: 'retracted', revision: entry.revision + 1 }))
	return { news, retracted: [...difference.retracted, ...gone], announcements: [...changed, ...gone] }
}
