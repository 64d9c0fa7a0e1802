/**
 * Computes the lines of a statement: by how much each frame, fee and payment of the chain changes the balance of one
 * address. Pure.
 */

import type { Amounts, Posting } from '../../model/books.js'
import type { Block, Frame, TxTrace } from '../../model/chain.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { Direction } from '../../model/watch.js'
import { judge } from '../events/effective.js'
import { traceText } from '../events/events.js'
import { movementBetween, movementsOf } from './books.js'

/**
 * `fee`: a transaction of the address that moved nothing else for it. `burn`: coins destroyed by a self-destruct. The
 * others as in `Posting` and `ChainEvent`; `reward` is a reward frame of the node.
 */
export type EntryKind = 'transfer' | 'deployment' | 'reward' | 'fee' | 'burn' | Exclude<Posting['kind'], 'fee'>

export interface Entry {
	readonly block: Block
	readonly kind: EntryKind
	/** Null if no transaction moved it. */
	readonly txHash: Hash | null
	readonly txIndex: number | null
	/** For example `root` or `0_1_2`; null if no frame shows it. */
	readonly trace: string | null
	readonly direction: Direction
	/** Null: no sender, or the chain itself. */
	readonly from: Address | null
	readonly to: Address | null
	/** The amount moved, unsigned. */
	readonly valueWei: bigint
	/** What the transaction cost the address; stated once per transaction. */
	readonly feeWei: bigint
	/** The change of the balance, fee included. */
	readonly changeWei: bigint
}

export interface BlockFacts {
	readonly block: Block
	/** The block's transactions, at least those that concern the address. */
	readonly transactions: readonly TxTrace[]
	/** All movements without a frame; null: only the fees stated by the transactions. */
	readonly postings: readonly Posting[] | null
	/** By the balances; null if unknown. */
	readonly changeWei: bigint | null
}

/** An entry without its fee, or a fee to be attached to an entry of its transaction. */
interface Draft extends Omit<Entry, 'feeWei' | 'changeWei' | 'block'> {
	readonly isFee: boolean
	/** Signed; two values if either of two rules may be in force. */
	readonly wei: Amounts
}

/**
 * The entries of a block for one address, in the order of the chain. If two fee rules may be in force, or a
 * self-destruct may have burnt something, the variant that matches the balances is used; the simplest if none does.
 */
export function entriesOf(address: Address, facts: BlockFacts): readonly Entry[] {
	const { block, transactions, postings, changeWei } = facts
	const own = transactions.filter((tx) => tx.block.hash === block.hash)
	const drafts = [
		...own.flatMap((tx) => frameDrafts(tx, address)),
		...(postings === null ? knownDrafts(own, address, block) : postingDrafts(postings, address, block)),
	].sort(byPlace)
	const { burnsWei } = movementBetween(movementsOf(own, new Set([address])), address, block.number, block.number)
	const choice = choose(drafts, burnsWei, changeWei)
	const burns = choice.burntWei.map((wei) => burnDraft(address, wei))
	return withFees([...drafts, ...burns], choice.rule, block)
}

function frameDrafts(tx: TxTrace, address: Address): readonly Draft[] {
	if (tx.succeeded === false) return []
	return judge(tx).flatMap(({ frame, counts }): readonly Draft[] => {
		const { from, to, valueWei } = frame
		if (!counts || valueWei === 0n || (from !== address && to !== address)) return []
		const direction: Direction = from === to ? 'self' : from === address ? 'out' : 'in'
		const wei = direction === 'self' ? 0n : direction === 'out' ? -valueWei : valueWei
		const isReward = frame.type === 'reward'
		return [
			{
				kind: kindOf(frame),
				txHash: tx.txHash,
				txIndex: tx.txIndex,
				trace: isReward ? null : traceText(frame.traceAddress),
				direction,
				from,
				to,
				valueWei,
				isFee: false,
				wei: [wei, wei],
			},
		]
	})
}

function kindOf({ type }: Frame): EntryKind {
	if (type === 'reward') return 'reward'
	return type === 'create' || type === 'create2' ? 'deployment' : 'transfer'
}

/** From receipts and header, if nothing else was requested. */
function knownDrafts(own: readonly TxTrace[], address: Address, block: Block): readonly Draft[] {
	const paid = (block.withdrawals ?? []).map(({ address: to, wei }): Posting => {
		return { kind: 'withdrawal', address: to, wei: [wei, wei], txHash: null }
	})
	return [...own.flatMap((tx) => feeDraft(tx, address)), ...postingDrafts(paid, address, block)]
}

function feeDraft({ fee, txHash, txIndex }: TxTrace, address: Address): readonly Draft[] {
	if (fee === undefined || fee.payer !== address || (fee.wei[0] === 0n && fee.wei[1] === 0n)) return []
	return [feeOf(address, txHash, txIndex, [-fee.wei[0], -fee.wei[1]])]
}

function feeOf(address: Address, txHash: Hash | null, txIndex: number | null, wei: Amounts): Draft {
	const nowhere = { trace: null, direction: 'out', from: address, to: null, valueWei: 0n } as const
	return { kind: 'fee', txHash, txIndex, ...nowhere, isFee: true, wei }
}

function postingDrafts(postings: readonly Posting[], address: Address, block: Block): readonly Draft[] {
	return postings.flatMap((posting): readonly Draft[] => {
		if (posting.address !== address) return []
		const { kind, txHash, wei } = posting
		const place = txHash === null ? -1 : block.txHashes.indexOf(txHash)
		const txIndex = place < 0 ? null : place
		if (kind === 'fee') return [feeOf(address, txHash, txIndex, wei)]
		const paid = { trace: null, direction: 'in', from: null, to: address, valueWei: wei[0], isFee: false, wei } as const
		return [{ kind, txHash, txIndex, ...paid }]
	})
}

function burnDraft(address: Address, valueWei: bigint): Draft {
	const noTransaction = { txHash: null, txIndex: null, trace: null, to: null } as const
	return {
		kind: 'burn',
		...noTransaction,
		direction: 'out',
		from: address,
		valueWei,
		isFee: false,
		wei: [-valueWei, -valueWei],
	}
}

/** Orders by transaction; entries without a transaction come last. */
function byPlace(a: Draft, b: Draft): number {
	if (a.txHash === null || b.txHash === null) return Number(a.txHash === null) - Number(b.txHash === null)
	return (a.txIndex ?? 0) - (b.txIndex ?? 0)
}

interface Choice {
	readonly rule: 0 | 1
	readonly burntWei: readonly bigint[]
}

/** Most burns in one block whose combinations are tried. */
const MOST_BURNS = 6

function choose(drafts: readonly Draft[], burnsWei: readonly bigint[], changeWei: bigint | null): Choice {
	const plainest: Choice = { rule: 0, burntWei: [] }
	if (changeWei === null) return plainest
	const combinations = burnsWei.length > MOST_BURNS ? [[]] : combinationsOf(burnsWei)
	for (const burntWei of combinations) {
		for (const rule of [0, 1] as const) {
			const sum = drafts.reduce((total, { wei }) => total + wei[rule], 0n)
			if (sum - burntWei.reduce((total, wei) => total + wei, 0n) === changeWei) return { rule, burntWei }
		}
	}
	return plainest
}

function combinationsOf(list: readonly bigint[]): readonly (readonly bigint[])[] {
	const sizes = Array.from({ length: 2 ** list.length }, (_, bits) => bits)
	return sizes.map((bits) => list.filter((_, at) => ((bits >> at) & 1) === 1))
}

/** Attaches each fee to the first entry of its transaction; without one, the fee becomes an entry. */
function withFees(drafts: readonly Draft[], rule: 0 | 1, block: Block): readonly Entry[] {
	const fees = new Map<Hash, bigint>()
	for (const { isFee, txHash, wei } of drafts) if (isFee && txHash !== null) fees.set(txHash, -wei[rule])
	const moving = new Set(drafts.flatMap(({ isFee, txHash }) => (isFee || txHash === null ? [] : [txHash])))
	return drafts.flatMap(({ isFee, wei, ...draft }): readonly Entry[] => {
		const { txHash } = draft
		if (isFee && txHash !== null && moving.has(txHash)) return []
		const feeWei = txHash === null ? 0n : (fees.get(txHash) ?? 0n)
		if (txHash !== null) fees.delete(txHash)
		return [{ ...draft, block, feeWei, changeWei: (isFee ? 0n : wei[rule]) - feeWei }]
	})
}
