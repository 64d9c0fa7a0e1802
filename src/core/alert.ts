import type { Alert, AlertData, ChainEvent, Finality, FrameEvent } from '../model/alert.js'
import type { Block } from '../model/chain.js'
import type { Address, Hash } from '../model/glossary.js'
import type { TokenEvent, TokenWords } from '../model/token.js'
import type { Network, WatchIndex } from '../model/watch.js'
import { formatAmount } from './amount.js'
import { alertId } from './events.js'
import type { Match } from './match.js'
import { noTokens } from './tokenChoice.js'
import { imitatedToken } from './tokenImitation.js'

/** What an alert says besides the event itself. */
export interface AlertContext {
	readonly network: Network
	readonly block: Block
	readonly finality: Finality
	readonly detectedAtMs: number
	/** Why it comes late; null when it does not. */
	readonly lateReason: string | null
	/** Whether the node's index names the same creator; absent or null where it was not asked or does not say. */
	readonly creatorConfirmed?: boolean | null
	/** What the contract of a token says of itself; null where it was not asked, or does not answer. */
	readonly tokenWords?: (contract: Address) => TokenWords | null
	/** Of a flood of unknown tokens, how many more there were in the block that are not told. Default: 0. */
	readonly more?: number
	/** Labels of the other side. */
	readonly watches: WatchIndex
	/** EIP-55 spelling of an address. */
	readonly checksum: (address: Address) => string
}

/** Puts a match into the fields that receivers get; amounts and numbers become text here. */
export function alertOf(match: Match, context: AlertContext): Alert {
	const { event, watch, direction } = match
	const { network, block, detectedAtMs, lateReason, checksum } = context
	const blockMs = Number(block.timestampS) * 1000
	const from = event.from === null ? null : checksum(event.from)
	const to = checksum(event.to)
	const counterpartyLabel = labelOf(direction === 'in' ? event.from : event.to, direction, context.watches)
	const data: AlertData = {
		id: alertId(network.chainId, event, watch.address),
		network: network.name,
		chainId: network.chainId,
		blockNumber: Number(block.number),
		blockHash: block.hash,
		blockTimestamp: new Date(blockMs).toISOString(),
		txHash: event.txHash,
		txIndex: event.txIndex,
		...(event.kind === 'token' ? tokenFields(event, to, context) : frameFields(event, to, context)),
		...(context.more === undefined || context.more === 0 ? {} : { more: context.more }),
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
		...(network.explorer === null ? {} : { links: linksOf(network.explorer, event, from, to, block) }),
	}
	return { type: `alert.${event.kind}`, data, receivers: match.receivers }
}

type Own = Pick<AlertData, 'traceAddress' | 'kind' | 'frameType' | 'category' | 'from' | 'to' | 'value' | 'asset'>

function frameFields(event: FrameEvent, to: string, { network, creatorConfirmed, checksum }: AlertContext) {
	const { initiator } = event
	return {
		traceAddress: event.traceAddress,
		kind: event.kind,
		frameType: event.frameType,
		category: event.traceAddress.length === 0 ? 'external' : 'internal',
		from: event.from === null ? null : checksum(event.from),
		to,
		...(event.kind === 'deployment' ? { contractAddress: to } : {}),
		...(initiator === null ? {} : { initiator: checksum(initiator) }),
		...(creatorConfirmed == null ? {} : { creatorConfirmed }),
		valueWei: event.valueWei.toString(),
		value: formatAmount(event.valueWei, network.decimals),
		asset: network.symbol,
	} satisfies Own & Partial<AlertData>
}

function tokenFields(event: TokenEvent, to: string, { network, tokenWords, checksum }: AlertContext) {
	const { standard, contract, from, amountRaw, tokenId, operator, initiator } = event
	const known = network.tokens?.get(contract)
	const { symbol, decimals } = known ?? tokenWords?.(contract) ?? { symbol: null, decimals: null }
	const amount = decimals === null ? null : formatAmount(amountRaw, decimals)
	const imitated = known === undefined ? imitatedToken(symbol, network.tokens ?? noTokens, network.symbol) : null
	const of = imitated?.of?.address
	return {
		traceAddress: [],
		kind: 'token',
		frameType: 'log',
		// Logs are written by contracts, which somebody has called.
		category: 'internal',
		from: checksum(from),
		to,
		value: amount,
		asset: symbol,
		token: {
			standard,
			address: checksum(contract),
			symbol,
			decimals,
			known: known !== undefined,
			amountRaw: amountRaw.toString(),
			amount,
			tokenId: tokenId === null ? null : tokenId.toString(),
			...(imitated !== null && {
				imitates: { symbol: imitated.symbol, address: of === undefined ? null : checksum(of) },
			}),
		},
		...(operator === null || operator === from ? {} : { operator: checksum(operator) }),
		...(initiator === null ? {} : { initiator: checksum(initiator) }),
	} satisfies Own & Partial<AlertData>
}

function labelOf(address: Address | null, direction: Match['direction'], watches: WatchIndex): string | null {
	if (address === null || direction === 'self') return null
	return watches.get(address)?.find((watch) => watch.label !== null)?.label ?? null
}

function linksOf(explorer: string, event: ChainEvent, from: string | null, to: string, block: Block) {
	const blockLink = `${explorer}/block/${block.number}`
	return {
		// A reward belongs to no transaction, so its block is the page to read.
		tx:
			event.kind !== 'token' && event.frameType === 'reward'
				? blockLink
				: `${explorer}/tx/${event.txHash satisfies Hash}`,
		...(from === null ? {} : { from: `${explorer}/address/${from}` }),
		to: `${explorer}/address/${to}`,
		block: blockLink,
	}
}
