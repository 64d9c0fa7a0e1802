/**
 * Checks an alert against what the node says now, with one function for each kind that is not read from a frame or log.
 */

import { formatAmount } from '../../base/amount.js'
import { utc } from '../../base/utc.js'
import { numberOf } from '../../chain/transactions/locate.js'
import { toChecksum } from '../../config/address.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import type { AlertId } from '../../core/alerts/alertId.js'
import type { openChain } from '../../daemon/openNetwork.js'
import { PlainError, UsageError } from '../../errors.js'
import { isBeyond, thresholdOf } from '../../kinds/balance.js'
import type { AlertData } from '../../model/alert.js'
import type { Block, BlockRef, Span, Withdrawal } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { Watch } from '../../model/watch.js'
import { changedControl } from './explainControl.js'

export interface Asked {
	readonly id: AlertId
	readonly network: NetworkSettings
	/** The current watches of the address. */
	readonly watches: readonly Watch[]
	/** The alert as it was sent; null when no record of it is kept. */
	readonly sent: AlertData | null
	readonly block: bigint | null
}

export interface Checked {
	readonly lines: readonly string[]
	/** Whether the node's answer agrees with the alert. */
	readonly isConfirmed: boolean
	/** Blocks whose book shows the alert; null: it moves no balance, or there is no such block. */
	readonly span: Span | null
}

type Ports = Pick<ReturnType<typeof openChain>, 'chain' | 'accounts' | 'endpoints' | 'contracts'>

/** Throws RpcError; kind `no-data` when the node does not have the state (any more). */
export async function checkAlert(asked: Asked, ports: Ports, signal: AbortSignal): Promise<Checked> {
	switch (asked.id.kind) {
		case 'withdrawal':
			return withdrawal(asked, ports, signal)
		case 'income':
			return income(asked, ports, signal)
		case 'balance':
			return crossing(asked, ports, signal)
		case 'delegation':
			return delegation(asked, ports, signal)
		case 'control':
			return control(asked, ports, signal)
		case 'unexplained':
			return unexplained(asked)
		default:
			throw new PlainError('a reward belongs to no transaction: `tracewatch replay` over its block shows it')
	}
}

async function withdrawal(
	{ id, network, sent, block }: Asked,
	{ chain }: Ports,
	signal: AbortSignal,
): Promise<Checked> {
	const index = BigInt(id.place)
	const number = block ?? (sent === null ? await blockPaying(index, chain, signal) : BigInt(sent.blockNumber))
	if (number === null) {
		throw new UsageError('its block is not in the history, and the headers do not lead there: name it with --block')
	}
	const header = await needBlock(number, chain, signal)
	const found = header.withdrawals?.find((one) => one.index === index && one.address === id.address)
	const words =
		found === undefined
			? `its header lists no withdrawal ${index} to this address`
			: `its header lists withdrawal ${index}, of validator ${found.validatorIndex}: ${coins(found.wei, network)}`
	return { lines: [stands(header), words], isConfirmed: found !== undefined, span: only(header) }
}

/**
 * The block that pays a withdrawal. Withdrawals are numbered over the whole chain, so it is found by bisecting the
 * headers. Null: no block pays it.
 */
async function blockPaying(index: bigint, chain: Ports['chain'], signal: AbortSignal): Promise<bigint | null> {
	let low = 1n
	let high = (await chain.head(signal)).latest.number
	while (low <= high) {
		const middle = (low + high) / 2n
		const near = await firstPaying(middle, high, chain, signal)
		if (near === null || (near.list[0] as Withdrawal).index > index) high = middle - 1n
		else if ((near.list.at(-1) as Withdrawal).index >= index) return near.number
		else low = near.number + 1n
	}
	return null
}

/** How many consecutive blocks without withdrawals are searched. */
const MOST_EMPTY = 64n

async function firstPaying(from: bigint, to: bigint, chain: Ports['chain'], signal: AbortSignal) {
	for (let number = from; number <= to && number < from + MOST_EMPTY; number++) {
		const { withdrawals: list } = await needBlock(number, chain, signal)
		// Blocks before withdrawals were introduced.
		if (list === undefined) return { number, list: [{ index: -1n } as Withdrawal] }
		if (list.length > 0) return { number, list }
	}
	return null
}

async function income({ id, network, sent }: Asked, ports: Ports, signal: AbortSignal): Promise<Checked> {
	const hash = id.anchor as Hash
	const number = await ports.endpoints.use((rpc) => numberOf(rpc, hash, signal), signal)
	const header = number === null ? null : await ports.chain.block(number, signal)
	if (header === null || header.hash !== hash) {
		return { lines: [`no endpoint has block ${hash} in its chain (any more)`], isConfirmed: false, span: null }
	}
	const postings = await ports.accounts.postings(header, new Set([id.address]), signal)
	const found = postings.find(({ kind, address }) => kind === 'income' && address === id.address)
	const words =
		found === undefined
			? 'by header and receipts this address earned nothing in it'
			: `by header and receipts its author earned ${coins(found.wei[0], network)} of ${found.transactions} transactions`
	const isSame = found !== undefined && (sent === null || sent.valueWei === String(found.wei[0]))
	return { lines: [stands(header), words], isConfirmed: isSame, span: only(header) }
}

async function crossing(asked: Asked, { chain, accounts }: Ports, signal: AbortSignal): Promise<Checked> {
	const { id, network, watches, sent } = asked
	const header = await needBlock(BigInt(id.anchor), chain, signal)
	const before = await needBlock(header.number - 1n, chain, signal)
	const at = async (ref: BlockRef) => (await accounts.balances([id.address], ref, signal)).get(id.address) ?? 0n
	const [wasWei, isWei] = [await at(before), await at(header)]
	const crossed = id.place === 'below' ? 'below' : 'above'
	const limits = watches.flatMap(({ thresholds, watchlist }) => {
		const wei = thresholdOf(thresholds, crossed)
		return wei === null ? [] : [{ wei, watchlist }]
	})
	const key = `balance_${crossed}`
	const lines = [
		stands(header),
		`balance before it ${coins(wasWei, network)}, after it ${coins(isWei, network)}`,
		...limits.map(({ wei, watchlist }) => `${key} is ${coins(wei, network)} now (${watchlist})`),
		...(limits.length === 0 ? [`no watch of it has ${key} now`] : []),
		...(sent?.threshold === undefined ? [] : [`when it was sent, ${key} was ${sent.threshold} ${network.symbol}`]),
	]
	const isConfirmed =
		sent === null ? limits.some(({ wei }) => isBeyond(isWei, crossed, wei)) : sent.balanceWei === String(isWei)
	return { lines, isConfirmed, span: only(header) }
}

async function delegation({ id, sent }: Asked, { chain, accounts }: Ports, signal: AbortSignal): Promise<Checked> {
	const isOfTransaction = id.place.startsWith('auth_')
	const place = isOfTransaction ? await chain.locate(id.anchor as Hash, signal) : null
	if (isOfTransaction && place === null) {
		return { lines: [`transaction ${id.anchor} is in no block (any more)`], isConfirmed: false, span: null }
	}
	const header = await needBlock(place?.number ?? BigInt(id.anchor), chain, signal)
	const named = (one: Address | null) => (one === null ? 'its own, that is none' : `that of ${toChecksum(one)}`)
	const [was, is] = [
		await accounts.delegate(id.address, { number: header.number - 1n }, signal),
		await accounts.delegate(id.address, header, signal),
	]
	const code = `by its code it ran before the block ${named(was)}, and after it ${named(is)}`
	if (place === null) {
		const isSame = was !== is && (sent === null || sent.delegate?.toLowerCase() === is?.toLowerCase())
		return { lines: [stands(header), code], isConfirmed: isSame, span: null }
	}
	const applied = await accounts.authorisations(header, id.address, signal)
	const found = applied.find(({ txHash, at }) => txHash === id.anchor && `auth_${at}` === id.place)
	const signed =
		found === undefined
			? `no authorisation ${id.place} of transaction ${id.anchor} held for it`
			: `${id.place} of transaction ${id.anchor} held for it: from then on it ran ${named(found.delegate)}`
	const hint = `the whole transaction: tracewatch explain ${id.anchor}`
	return { lines: [stands(header), signed, code, hint], isConfirmed: found !== undefined, span: null }
}

async function control(asked: Asked, { chain, contracts }: Ports, signal: AbortSignal): Promise<Checked> {
	const [from = '', to = from] = asked.id.anchor.split('-')
	const header = await needBlock(BigInt(to), chain, signal)
	const blocks = { before: await needBlock(BigInt(from) - 1n, chain, signal), after: header }
	const { lines, isConfirmed } = await changedControl(asked, blocks, contracts, signal)
	return { lines: [stands(header), ...lines], isConfirmed, span: null }
}

function unexplained({ id, sent, network }: Asked): Checked {
	const [from = '', to = ''] = id.anchor.split('-')
	const span = { from: BigInt(from), to: BigInt(to) }
	if (span.from < 1n || span.from > span.to) throw new UsageError(`\`${id.anchor}\` are no blocks`)
	const said =
		sent?.difference === undefined
			? []
			: [`when it was sent, ${sent.difference} ${network.symbol} were missing: ${sent.reason ?? ''}`]
	const words = 'the balance before them, all that moves the address in them, and the balance after, asked for now:'
	return { lines: [...said, words], isConfirmed: false, span }
}

async function needBlock(number: bigint, chain: Ports['chain'], signal: AbortSignal): Promise<Block> {
	const block = await chain.block(number, signal)
	if (block === null) throw new PlainError(`there is no block ${number} (yet)`)
	return block
}

function stands({ number, hash, timestampS }: Block): string {
	return `block ${number} (${hash}), ${utc(Number(timestampS) * 1_000)}`
}

function only({ number }: BlockRef): Span {
	return { from: number, to: number }
}

function coins(wei: bigint, { decimals, symbol }: NetworkSettings): string {
	return `${formatAmount(wei, decimals)} ${symbol}`
}
