import { type Account, accountOf, keyOf, type TokenEntry, tokenEntryOf } from '../core/tokenStatement.js'
import { RpcError } from '../errors.js'
import type { Block, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain } from '../model/ports.js'

/** One thing that a statement of tokens says, in its order. */
export type TokenStatementItem =
	/** By the contract before the first block; of ERC-1155 when an id is first seen to move. */
	| { readonly item: 'opening'; readonly account: Account; readonly block: Block; readonly balanceRaw: bigint }
	/** `balanceRaw` is the opening balance with all entries so far. */
	| {
			readonly item: 'entry'
			readonly account: Account
			readonly block: Block
			readonly entry: TokenEntry
			readonly balanceRaw: bigint
	  }
	/** The contract does not say what the address has: nothing holds the entries to account. Null: of what block. */
	| { readonly item: 'unproved'; readonly account: Account; readonly block: Block }
	/** Everything up to this block has been said. */
	| { readonly item: 'read'; readonly to: bigint }
	/** By the contract, and by the entries; equal where the logs say all that moves it. */
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
	/** At least one. */
	readonly contracts: ReadonlySet<Address>
}

/**
 * Every transfer of some tokens from or to an address over a span, from what each contract says that it had before to
 * what it says afterwards. Throws RpcError; `no-data` where no endpoint has the state of these blocks (any more).
 */
export async function* tokenStatementOf(
	{ address, span, contracts }: TokenStatementQuestion,
	chain: Pick<Chain, 'block' | 'walk' | 'tokenBalance'>,
	signal: AbortSignal,
): AsyncGenerator<TokenStatementItem> {
	const before = await needBlock(span.from - 1n)
	/** Null: the contract did not say what there was before. */
	const explained = new Map<string, { readonly account: Account; raw: bigint; readonly isKnown: boolean }>()
	for (const contract of contracts) yield* open({ contract, tokenId: null }, true)
	let last: Block = before
	for await (const part of chain.walk(span, new Set([address]), signal)) {
		if (part.span.from === span.from && part.parentHash !== undefined && part.parentHash !== before.hash)
			throw moved(before.number)
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

	/** `mayBeNone`: a contract of ERC-1155 has no balance but by id, and says so by saying nothing. */
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

	async function needBlock(number: bigint): Promise<Block> {
		const block = await chain.block(number, signal)
		if (block === null) throw moved(number)
		return block
	}
}

function moved(number: bigint): RpcError {
	return new RpcError(`block ${number} was replaced while the statement was made`, { kind: 'unsettled', endpoint: '' })
}
