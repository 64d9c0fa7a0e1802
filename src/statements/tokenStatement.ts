import { blockAgain, replaced } from '../audit/blocks.js'
import { type Account, accountOf, keyOf, type TokenEntry, tokenEntryOf } from '../core/ledger/tokenEntries.js'
import type { Block, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'

const DURING = 'the statement was made'

/** One item of a token statement. Items come in the order of the chain. */
export type TokenStatementItem =
	/** The balance by the contract before the first block; for ERC-1155, given when an id first moves. */
	| { readonly item: 'opening'; readonly account: Account; readonly block: Block; readonly balanceRaw: bigint }
	/** `balanceRaw` is the opening balance plus all entries so far. */
	| {
			readonly item: 'entry'
			readonly account: Account
			readonly block: Block
			readonly entry: TokenEntry
			readonly balanceRaw: bigint
	  }
	/** The contract does not tell the balance at this block, so the entries cannot be checked against it. */
	| { readonly item: 'unproved'; readonly account: Account; readonly block: Block }
	/** All items up to this block have been given. */
	| { readonly item: 'read'; readonly to: bigint }
	/** The balance by the contract and the balance by the entries; equal if the logs report every movement. */
	| {
			readonly item: 'closing'
			readonly account: Account
			readonly block: Block
			readonly balanceRaw: bigint
			readonly explainedRaw: bigint
	  }

export interface TokenStatementQuestion {
	readonly address: Address
	readonly span: Span
	/** Not empty. */
	readonly contracts: ReadonlySet<Address>
}

/**
 * Every transfer of the given tokens from or to an address over a span, with the balance that each contract gives
 * before it and after it. Throws RpcError; `no-data` if no endpoint has the state of these blocks (any more).
 */
export async function* tokenStatementOf(
	{ address, span, contracts }: TokenStatementQuestion,
	chain: Pick<Chain, 'block' | 'walk' | 'tokenBalance'>,
	signal: AbortSignal,
): AsyncGenerator<TokenStatementItem> {
	const before = await needBlock(span.from - 1n)
	/** `isKnown`: whether the contract gave the opening balance. */
	const explained = new Map<string, { readonly account: Account; raw: bigint; readonly isKnown: boolean }>()
	for (const contract of contracts) yield* open({ contract, tokenId: null }, true)
	let last: Block = before
	for await (const part of chain.walk(span, new Set([address]), signal)) {
		if (part.span.from === span.from && part.parentHash !== undefined && part.parentHash !== before.hash)
			throw replaced(before.number, DURING)
		for (const event of part.tokens ?? []) {
			const block = part.blocks.get(event.block.number)
			if (!contracts.has(event.contract) || block === undefined) continue
			if (event.from !== address && event.to !== address) continue
			const account = accountOf(event)
			if (!explained.has(keyOf(account))) yield* open(account, false)
			const own = explained.get(keyOf(account))
			const entry = tokenEntryOf(address, event)
			if (own === undefined) continue
			own.raw += entry.changeRaw
			yield { item: 'entry', account, block, entry, balanceRaw: own.raw }
		}
		last = part.last
		yield { item: 'read', to: part.span.to }
	}
	for (const { account, raw, isKnown } of explained.values()) {
		const balanceRaw = isKnown ? await balanceAt(account, last) : null
		if (balanceRaw === null) yield { item: 'unproved', account, block: last }
		else yield { item: 'closing', account, block: last, balanceRaw, explainedRaw: raw }
	}

	/** `mayBeNone`: the contract may be ERC-1155, which has balances only by id and does not answer without one. */
	async function* open(account: Account, mayBeNone: boolean): AsyncGenerator<TokenStatementItem> {
		const balanceRaw = await balanceAt(account, before)
		if (balanceRaw === null && mayBeNone) return
		explained.set(keyOf(account), { account, raw: balanceRaw ?? 0n, isKnown: balanceRaw !== null })
		if (balanceRaw !== null) yield { item: 'opening', account, block: before, balanceRaw }
		else yield { item: 'unproved', account, block: before }
	}

	function balanceAt({ contract, tokenId }: Account, { number: block }: Block): Promise<bigint | null> {
		return chain.tokenBalance({ contract, owner: address, tokenId, block }, signal)
	}

	function needBlock(number: bigint): Promise<Block> {
		return blockAgain(number, DURING, chain, signal)
	}
}
