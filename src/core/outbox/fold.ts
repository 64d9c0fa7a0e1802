/**
 * Folds overflowing alerts. While many deliveries wait for a receiver, alerts that a stranger can cause at will are
 * sent as one: the first of them states how many more there were, of which watch, in which blocks, and their sums. A
 * flood thus never stops the scan. Alarms, outgoing movements and retractions are never folded.
 */

import { formatAmount } from '../../base/amount.js'
import type { AlertData, FoldedAlerts, FoldedSum } from '../../model/alert.js'
import type { Delivery } from '../../model/delivery.js'
import { type Steps, stepItems } from '../steps.js'
import { isAlert } from './messageKinds.js'
import { queueOf } from './queue.js'
import { rankOf, ranks } from './urgency.js'

export interface Fold {
	/** To be sent, in the order given. */
	readonly deliveries: readonly Delivery[]
	/** Counted in one of `deliveries`; they appear only in the history. */
	readonly folded: readonly Delivery[]
}

export interface FoldOptions {
	/** How many more deliveries may wait for a receiver before the rest is folded. */
	readonly roomOf: (receiver: string) => number
	/** Decimals of the network's coin. */
	readonly decimals: number
}

/** `deliveries` of one network and one commit. */
export function* foldOverflow(deliveries: readonly Delivery[], { roomOf, decimals }: FoldOptions): Steps<Fold> {
	const room = new Map<string, number>()
	const left = (receiver: string) => room.get(receiver) ?? roomOf(receiver)
	const foldable: Delivery[] = []
	for (const [at, delivery] of deliveries.entries()) {
		if (at % stepItems === stepItems - 1) yield
		if (mayFold(delivery)) foldable.push(delivery)
		else room.set(delivery.receiver, left(delivery.receiver) - 1)
	}
	const groups = new Map<string, Delivery[]>()
	for (const [at, delivery] of foldable.entries()) {
		if (at % stepItems === stepItems - 1) yield
		const { receiver, message } = delivery
		room.set(receiver, left(receiver) - 1)
		if (left(receiver) >= 0 || !isAlert(message.data)) continue
		const { watchlist, address } = message.data.watch
		const key = JSON.stringify([queueOf(delivery), watchlist, address, rankOf(delivery)])
		const group = groups.get(key)
		if (group === undefined) groups.set(key, [delivery])
		else group.push(delivery)
	}
	const heads = new Map<string, Delivery>()
	const folded = new Set<Delivery>()
	for (const [head, ...rest] of groups.values()) {
		if (head === undefined || rest.length === 0) continue
		heads.set(head.id, yield* withFolded(head, rest, decimals))
		for (const delivery of rest) folded.add(delivery)
	}
	if (folded.size === 0) return { deliveries, folded: [] }
	return {
		deliveries: deliveries.filter((one) => !folded.has(one)).map((one) => heads.get(one.id) ?? one),
		folded: [...folded],
	}
}

/** A repeated announcement has its own place in the order and is not folded. */
function mayFold({ message, rank }: Pick<Delivery, 'message' | 'rank'>): boolean {
	if (rank !== undefined || message.type === 'alert.removed' || message.type === 'test') return false
	return isAlert(message.data) && rankOf({ message }) >= ranks.claim
}

function* withFolded(head: Delivery, rest: readonly Delivery[], decimals: number): Steps<Delivery> {
	const { message } = head
	if (!isAlert(message.data)) return head
	const all = rest.flatMap(({ message: { data } }) => (isAlert(data) ? [data] : []))
	const blocks = all.map(({ blockNumber }) => blockNumber)
	const folded: FoldedAlerts = {
		count: all.length,
		fromBlock: blocks.reduce((one, other) => Math.min(one, other)),
		toBlock: blocks.reduce((one, other) => Math.max(one, other)),
		sums: yield* sumsOf(all, message.data, decimals),
	}
	// Adds what the flood gate left out.
	const more = [message.data, ...all].reduce((sum, data) => sum + (data.more ?? 0), 0)
	return { ...head, message: { ...message, data: { ...message.data, folded, ...(more > 0 && { more }) } } }
}

function* sumsOf(all: readonly AlertData[], head: AlertData, decimals: number): Steps<readonly FoldedSum[]> {
	const transfers = new Set([head, ...all].filter(({ kind }) => kind !== 'call').map(frameOf))
	const sums = new Map<string, { readonly first: AlertData; count: number; raw: bigint }>()
	for (const [at, data] of all.entries()) {
		if (at % stepItems === stepItems - 1) yield
		const key = JSON.stringify([data.direction, assetKey(data)])
		const sum = sums.get(key) ?? { first: data, count: 0, raw: 0n }
		sum.count += 1
		// A failed call shows what it carried, and moved nothing; what another one carried, its transfer says too.
		const isCounted = data.success !== false && (data.kind !== 'call' || !transfers.has(frameOf(data)))
		if (isCounted) sum.raw += BigInt(data.token?.amountRaw ?? data.valueWei ?? 0)
		sums.set(key, sum)
	}
	return [...sums.values()].map(({ first, count, raw }): FoldedSum => {
		const { direction, asset, token } = first
		if (assetKey(first) === null) return { direction, asset: null, count, amountRaw: null, amount: null }
		// Of ERC-721 no decimals count.
		const digits = token === undefined ? decimals : token.standard === 'erc721' ? null : token.decimals
		const amount = digits === null ? null : formatAmount(raw, digits)
		const contract = token === undefined ? {} : { contract: token.address }
		return { direction, asset, ...contract, count, amountRaw: String(raw), amount }
	})
}

function frameOf({ txHash, traceAddress }: AlertData): string {
	return `${txHash} ${traceAddress}`
}

/** Null: not summed separately. */
function assetKey({ token }: AlertData): string | null {
	if (token === undefined) return 'coin'
	return token.known ? token.address : null
}
