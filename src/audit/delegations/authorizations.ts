import { lengthOf, numbersOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import { asksForContracts, isKindWanted } from '../../kinds/all.js'
import type { Delegation } from '../../kinds/delegation.js'
import type { Accounts, Authorised, Signed } from '../../model/books.js'
import type { Block, Part } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import type { SignedInBlock } from '../../model/state.js'
import type { WatchIndex } from '../../model/watch.js'
import { changesOf } from '../accessLists.js'
import { replaced } from '../blocks.js'
import { type CodeChange, type DelegationPorts, delegationsListed, delegationsOf } from './delegations.js'

const DURING = 'its transactions were read'

/** Authorisations of EIP-7702 that watches signed, in one block. */
export interface SignedBlock {
	readonly block: Block
	readonly signed: readonly (Authorised & Pick<Signed, 'authority'>)[]
	/** Watches whose code the block changed; determined only if not all of its authorisations were read. */
	readonly changed: readonly Address[]
}

/** Transactions are read only of blocks at most this far from the head, in parts of at most this length. */
const NEAR_BLOCKS = 16n

/** Blocks whose authorisations are to be read. `awaitsCode`: a watch without code asks what rules it. */
export function blocksToAsk(
	{ span, last, blocks }: Part,
	head: bigint,
	watches: WatchIndex,
	awaitsCode = false,
): readonly SignedInBlock[] {
	if (last.takesAuthorisations !== true || lengthOf(span) > NEAR_BLOCKS || span.to + NEAR_BLOCKS < head) return []
	if (!awaitsCode && !isKindWanted(watches, 'delegation')) return []
	return [...numbersOf(span)].flatMap((number) => {
		if (number === span.to) return last.txHashes.length === 0 ? [] : [{ number, hash: last.hash }]
		return [{ number, hash: blocks.get(number)?.hash ?? null }]
	})
}

export interface SignedReading extends Required<Omit<DelegationPorts, 'chain'>> {
	readonly log: Log
}

/**
 * The authorisations in a block that were signed by watches that want `delegation`, or ask what rules them; null: none.
 * One request. Throws RpcError, with `unsettled` if another block has taken its place.
 */
export async function signedInBlock(
	{ number, hash }: SignedInBlock,
	watches: WatchIndex,
	{ accounts, log, onUncovered }: SignedReading,
	signal: AbortSignal,
): Promise<SignedBlock | null> {
	const has = (address: Address) => wantsIt(watches, address)
	const { block, signed, left } = await accounts.authorizationsIn(
		number,
		{ size: watches.size, has, keys: () => watches.keys() },
		signal,
	)
	if (hash !== null && block.hash !== hash) throw replaced(number, DURING)
	if (left === 0) return signed.length === 0 ? null : { block, signed, changed: [] }
	log.warn(
		{ block: number, left },
		'a block has more authorisations than are read: the code of the watches is compared',
	)
	// The code after the block does not show what was set and taken back within it.
	onUncovered(number)
	const changed = await changedCodes(block, [...watches.keys()].filter(has), accounts, signal)
	if (changed === null) log.warn({ block: number, left }, 'a block is not covered for delegations')
	return signed.length > 0 || changed?.length ? { block, signed, changed: changed ?? [] } : null
}

export interface SignedChange {
	readonly change: CodeChange
	/** Announced if no endpoint tells the code. Empty: only the code can show a delegation. */
	readonly findings: readonly Delegation[]
}

/** Turns authorisations into code changes to examine, one for each signer. */
export function signedChanges({ block, signed, changed }: SignedBlock): readonly SignedChange[] {
	return [...new Set([...signed.map(({ authority }) => authority), ...changed])].map((address): SignedChange => {
		const findings = signed
			.filter(({ authority }) => authority === address)
			.map((authorised): Delegation => {
				return { kind: 'delegation', address, block, authorised, delegate: authorised.delegate }
			})
		return { change: { address, from: block.number - 1n, to: block, listed: { block, codes: [] } }, findings }
	})
}

function wantsIt(watches: WatchIndex, address: Address): boolean {
	return watches.get(address)?.some((one) => one.kinds.includes('delegation') || asksForContracts(one)) ?? false
}

/** Each verified against the code, or on a private network the block's access list; unverified where none gives it. */
export async function delegationsSigned(
	signed: readonly SignedChange[],
	ports: Required<DelegationPorts>,
	signal: AbortSignal,
): Promise<readonly Delegation[]> {
	const block = signed[0]?.change.listed?.block
	if (ports.accounts.isPrivate && block !== undefined) {
		const changes = await changesOf(block, ports.accounts, signal)
		if (changes === null) return signed.flatMap(({ findings }) => findings)
		return signed.flatMap(({ change: { address }, findings }) => {
			const authorised = findings.flatMap((one) => one.authorised ?? [])
			return delegationsListed(address, { block, codes: changes.codes.get(address) ?? [] }, authorised)
		})
	}
	const found: Delegation[] = []
	for (const { change, findings } of signed) {
		try {
			found.push(...(await delegationsOf(change, ports, signal)))
		} catch (error) {
			if (!(error instanceof RpcError) || error.kind === 'unsettled') throw error
			found.push(...findings)
			if (findings.length === 0) ports.onUncovered(change.to.number)
		}
	}
	return found
}

/** With more watches codes are not compared: that is ten requests of 2,000 before the block, and ten after. */
const MOST_WATCHES = 20_000
/** If no request for many codes is possible, each address is asked for alone, up to this many. */
const MOST_ALONE = 50

/** Addresses whose code a block changed. Null: too many, a private network, or no endpoint tells the code. */
async function changedCodes(
	block: Block,
	addresses: readonly Address[],
	accounts: Accounts,
	signal: AbortSignal,
): Promise<readonly Address[] | null> {
	if (accounts.isPrivate || addresses.length > MOST_WATCHES) return null
	const parent = { number: block.number - 1n, hash: block.parentHash }
	try {
		const before = (await accounts.balances(addresses, parent, signal)).codes
		const after = (await accounts.balances(addresses, block, signal)).codes
		if (before !== undefined && after !== undefined)
			return addresses.filter((address) => before.get(address) !== after.get(address))
		if (addresses.length > MOST_ALONE) return null
		const changed: Address[] = []
		for (const address of addresses) {
			const was = await accounts.delegate(address, parent, signal)
			if (was !== (await accounts.delegate(address, block, signal))) changed.push(address)
		}
		return changed
	} catch (error) {
		if (!(error instanceof RpcError) || error.kind === 'unsettled') throw error
		return null
	}
}
