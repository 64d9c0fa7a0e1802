import type { Delegation, Finding } from '../core/findings.js'
import { isKindWanted } from '../core/kinds.js'
import { lengthOf, numbersOf } from '../core/spans.js'
import { RpcError } from '../errors.js'
import type { Accounts, Authorised, Signed } from '../model/books.js'
import type { Block, Part } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Chain, Log } from '../model/ports.js'
import type { WatchIndex } from '../model/watch.js'
import { type CodeChange, delegationsOf } from './delegations.js'

/** Authorisations of EIP-7702 that watches signed, in one block. */
export interface SignedBlock {
	readonly block: Block
	readonly signed: readonly (Authorised & Pick<Signed, 'authority'>)[]
}

export interface SignedReading {
	readonly accounts: Accounts
	readonly log: Log
	/** By block; written into. */
	readonly vain?: Map<bigint, number>
}

/** Polls that fail for a block before it is passed over. */
const MOST_TRIES = 5

/** Further from the head, and of longer parts, the transactions of blocks are not read. */
const NEAR_BLOCKS = 16n

/** Whether blocks of a part are read once more, for what was signed in them. */
export function asksForSigned({ span, last }: Part, head: bigint, watches: WatchIndex): boolean {
	if (last.takesAuthorisations !== true || lengthOf(span) > NEAR_BLOCKS || span.to + NEAR_BLOCKS < head) return false
	return isKindWanted(watches, 'delegation')
}

/**
 * Of those who are to be told of delegations: what they signed, in the blocks of a part near the head, one question a
 * block. Empty where the chain has no such transactions. Throws RpcError `unsettled` where the chain has changed. A
 * block that cannot be had is left out; with `vain`, where how often is counted, what hinders it is thrown first.
 */
export async function signedInPart(
	part: Part,
	head: bigint,
	watches: WatchIndex,
	{ accounts, log, vain }: SignedReading,
	signal: AbortSignal,
): Promise<readonly SignedBlock[]> {
	const { span, last, parentHash } = part
	if (!asksForSigned(part, head, watches)) return []
	const has = (address: Address) => wantsIt(watches, address)
	const authorities = { size: watches.size, has, keys: () => watches.keys() }
	const blocks: SignedBlock[] = []
	for (const number of numbersOf(span)) {
		if (number === span.to && last.txHashes.length === 0) continue
		try {
			const { block, signed, left } = await accounts.signedIn(number, authorities, signal)
			const isOther = number === span.to ? block.hash !== last.hash : false
			const isApart = number === span.from && parentHash !== undefined && block.parentHash !== parentHash
			if (isOther || isApart) throw moved(number)
			if (left > 0) log.warn({ block: number, left }, 'a block has more authorisations than are looked at')
			if (signed.length > 0) blocks.push({ block, signed })
		} catch (error) {
			if (!(error instanceof RpcError) || error.kind === 'unsettled') throw error
			if (vain === undefined) continue
			const tries = (vain.get(number) ?? 0) + 1
			vain.set(number, tries)
			if (tries < MOST_TRIES) throw error
			log.warn({ block: number, error: error.message }, 'delegations in a block were not looked for')
		}
	}
	vain?.clear()
	return blocks
}

export interface SignedChange {
	readonly change: CodeChange
	/** What can be said if nobody tells the code: that it was signed. */
	readonly findings: readonly Delegation[]
}

/** As changes of code to be looked into, one for each signer and block, but for those that are looked into already. */
export function signedChanges(blocks: readonly SignedBlock[], known: readonly CodeChange[]): readonly SignedChange[] {
	return blocks.flatMap(({ block, signed }) =>
		[...new Set(signed.map(({ authority }) => authority))].flatMap((address): SignedChange[] => {
			const isKnown = known.some(
				(one) => one.address === address && one.from < block.number && block.number <= one.to.number,
			)
			if (isKnown) return []
			const findings = signed
				.filter(({ authority }) => authority === address)
				.map((authorised): Delegation => {
					return { kind: 'delegation', address, block, authorised, delegate: authorised.delegate }
				})
			return [{ change: { address, from: block.number - 1n, to: block, isListed: true }, findings }]
		}),
	)
}

function wantsIt(watches: WatchIndex, address: Address): boolean {
	return watches.get(address)?.some(({ kinds }) => kinds.includes('delegation')) ?? false
}

function moved(block: bigint): RpcError {
	return new RpcError(`block ${block} was replaced while its transactions were read`, {
		kind: 'unsettled',
		endpoint: '',
	})
}

/** What came of each: checked against the code where somebody tells it, else that it was signed. */
export async function delegationsSigned(
	signed: readonly SignedChange[],
	ports: { readonly accounts: Accounts; readonly chain: Chain },
	signal: AbortSignal,
): Promise<readonly Finding[]> {
	const found: Finding[] = []
	for (const { change, findings } of signed) {
		try {
			found.push(...(await delegationsOf(change, ports, signal)))
		} catch (error) {
			if (!(error instanceof RpcError) || error.kind === 'unsettled') throw error
			found.push(...findings)
		}
	}
	return found
}
