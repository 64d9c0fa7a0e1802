/**
 * The room is the storage witness of who rules a contract. With its commit the scanner queues the blocks in which
 * contracts were entered. Here each contract is read after its block, and what differs is announced with its entry.
 */

import { isKeepingState } from '../../../audit/asked/askedState.js'
import { readsOf } from '../../../audit/contracts/firstLook.js'
import type { ContractQuestion } from '../../../audit/contracts/readContracts.js'
import { signalWithin } from '../../../base/waits/deadline.js'
import { type ControlSeen, contractChanges } from '../../../core/control/contractChanges.js'
import { type Denied, deniedEvents, withoutAnnounced } from '../../../core/control/oneChange.js'
import { contractWith } from '../../../core/control/setBackContract.js'
import { isSeenIn, noDifference } from '../../../core/reconcile/reconcile.js'
import { rememberedBlocks } from '../../../core/target.js'
import { RpcError } from '../../../errors.js'
import type { Block, BlockRef, TouchedBlock } from '../../../model/chain.js'
import type { Contract, ContractStates } from '../../../model/contract.js'
import type { Address, Hash } from '../../../model/glossary.js'
import type { ControlChanged } from '../../../model/kind.js'
import type { Announcement, NetworkState } from '../../../model/state.js'
import { judgeAndCommit } from '../../committed.js'
import { reconcileWith } from '../../look/answers.js'
import { sightOfFindings } from '../../look/findingAlerts.js'
import { contextOf } from '../../look/lookContext.js'
import { movedOn, type PollPorts, type PollSession, write } from '../../pollSession.js'
import { disputesOf } from './disputes.js'
import { type OtherCode, ownCodeEvents } from './ownCode.js'

/** Time limit for one poll. */
const MOST_MS = 8_000
/** Blocks at which nothing could be read, in one poll: one contract may be to blame, or the endpoint. */
const MOST_FAILURES = 2
/** After this many failures at one block, its contracts are read with the next one. */
const MOST_TRIES = 5

/** Reads the queued blocks in order; ends at one that cannot be read now. */
export async function readTouched(session: PollSession, ports: PollPorts, outer: AbortSignal): Promise<void> {
	const { touchedDone, failedContracts, contracts, rotation } = ports.audit
	const queue = (session.state.audit?.touched ?? []).filter(({ hash }) => !touchedDone.has(hash))
	if (contracts === null || queue.length === 0) return
	const signal = signalWithin(MOST_MS, outer)
	/** Contracts that could not be read: a later block shows them only after this one did. */
	const left = new Set<Address>()
	let failures = 0
	for (const job of jobsOf(queue, session, ports)) {
		const { hash, number } = job.block
		const isFailed = () => failedContracts.set(hash, (failedContracts.get(hash) ?? 0) + 1)
		rotation.wereEntered(job.contracts.keys(), number)
		try {
			const some = await readBlock(job, session, ports, { left, signal })
			for (const address of some) left.add(address)
			if (some.size === 0) failedContracts.delete(hash)
			else isFailed()
		} catch (error) {
			outer.throwIfAborted()
			if (!(error instanceof RpcError) && !signal.aborted) throw error
			isFailed()
			ports.log.debug({ block: number, err: error }, 'contracts are read again with the next poll')
			failures++
			if (signal.aborted || failures === MOST_FAILURES) return
			for (const address of job.contracts.keys()) left.add(address)
		}
	}
}

export interface ContractJob {
	readonly block: BlockRef
	/** Queued blocks that it answers. */
	readonly answers: readonly Hash[]
	readonly contracts: ReadonlyMap<Address, ContractEntry>
	/** By the rotation: all functions are asked, and another endpoint than usually, since that one may hide a change. */
	readonly isInTurn?: true
}

export interface ContractEntry {
	/** First block that can have changed it. */
	readonly from: bigint
	/** Transactions that entered it; null: not known. */
	readonly transactions: readonly Hash[] | null
	/** No frame shows a change. */
	readonly isUnseen?: boolean
}

/** A block whose state is gone is read with the next one whose state is there, at last with the checkpoint. */
function* jobsOf(
	queue: readonly TouchedBlock[],
	{ head, checkpoint, target }: PollSession,
	{ audit: { failedContracts: failed, reads } }: PollPorts,
): Iterable<ContractJob> {
	let answers: Hash[] = []
	let contracts = new Map<Address, ContractEntry>()
	const isThere = ({ number, hash }: BlockRef) =>
		isKeepingState(number, head.latest.number) && (failed.get(hash) ?? 0) < MOST_TRIES
	for (const { number, hash, from = number, contracts: entered } of queue) {
		answers.push(hash)
		const isExact = isThere({ number, hash })
		for (const [address, transactions] of entered) {
			if (reads.isLeft(address)) continue
			const before = contracts.get(address)
			const own = isExact && before === undefined && from === number ? transactions : null
			contracts.set(address, { from: before?.from ?? from, transactions: own })
		}
		if (!isExact) continue
		yield { block: { number, hash }, answers, contracts }
		answers = []
		contracts = new Map()
	}
	if (answers.length > 0 && target >= checkpoint.number && isKeepingState(checkpoint.number, head.latest.number))
		yield { block: checkpoint, answers, contracts }
}

/**
 * Reads contracts after a block, but for those in `left`; announces and writes what differs from their entries in one
 * commit. Resolves to the contracts that were not read; while there are any, the block stays queued.
 */
export async function readBlock(
	job: ContractJob,
	session: PollSession,
	ports: PollPorts,
	{ left: before, signal }: { readonly left: ReadonlySet<Address>; readonly signal: AbortSignal },
): Promise<ReadonlySet<Address>> {
	const { audit, chain } = ports
	const { block } = job
	if (audit.contracts === null) return before
	const now = { ...job, contracts: new Map([...job.contracts].filter(([address]) => !before.has(address))) }
	const { changed, found, others, unread } = await compared(now, audit.contracts, { session, ports }, signal)
	const left = new Set([...unread, ...[...job.contracts.keys()].filter((address) => before.has(address))])
	const answers = left.size === 0 ? job.answers : []
	if (changed.size === 0 && found.length === 0) {
		// The queue itself is written with the next commit: until then a kill only reads the block again.
		for (const hash of answers) audit.touchedDone.add(hash)
		return left
	}
	const isQuiet = found.length === 0 && others.length === 0
	const header = isQuiet ? null : await headerOf(block, session, ports, signal)
	const { code } = audit
	const own = header === null || code === null ? [] : await ownCodeEvents(others, header, code.reader, signal)
	const span = { from: block.number, to: block.number }
	const judge = async ({ announcements }: NetworkState) => {
		if (header === null) return { difference: null }
		const part = { span, last: header, blocks: new Map([[header.number, header]]), transactions: [] }
		const context = contextOf(session, ports, { backfill: null, isSecondLook: false })
		const { news, confirmed } = withoutAnnounced(
			found.map((one) => ({ ...one, block: header })),
			announcements,
		)
		const sight = { ...sightOfFindings([...news, ...own], part, context), judges: isOfStorage, isWhole: false }
		const before = { ...noDifference, announcements: confirmed }
		return { difference: await reconcileWith(announcements, sight, { part, before, chain }, signal) }
	}
	const concerns = ({ block: { number } }: Announcement) => number === block.number
	await judgeAndCommit(session.committed, concerns, judge, async ({ difference }) => {
		for (const hash of answers) audit.touchedDone.add(hash)
		try {
			await write(session, { contracts: changed }, difference, ports)
		} catch (error) {
			for (const hash of answers) audit.touchedDone.delete(hash)
			throw error
		}
	})
	return left
}

type Found = Omit<ControlChanged, 'block'>

/** What differs from the entries of contracts after a block. */
async function compared(
	{ block, contracts, isInTurn }: ContractJob,
	{ other, ...usual }: ContractStates,
	{ session, ports }: { readonly session: PollSession; readonly ports: PollPorts },
	signal: AbortSignal,
) {
	const { contracts: entries, announcements, settled } = session.state
	const questions: ContractQuestion[] = []
	for (const address of contracts.keys()) {
		const known = entries.get(address)
		if (known === undefined || known.since >= block.number || known.readAt > block.number) continue
		const reads = readsOf(session.config.watches, address)
		questions.push({ address, known, reads, ...(isInTurn && { isWhole: true }) })
	}
	const [reader, second] = isInTurn ? [other, usual] : [usual, other]
	const readings = await ports.audit.reads.read(questions, block, reader, signal)
	const transactionOf = createFinder(block, ports, signal)
	const changed = new Map<Address, Contract | null>()
	const finding: Promise<readonly Found[]>[] = []
	const others: OtherCode[] = []
	const unread = new Set<Address>()
	const keep = settled.number - rememberedBlocks
	for (const { address, known, reads } of questions) {
		const now = readings.get(address)
		const entry = contracts.get(address)
		if (now === undefined) unread.add(address)
		if (known === null || now === undefined || entry === undefined) continue
		const { codeHash } = now
		if (codeHash !== known.codeHash) others.push({ address, previousHash: known.codeHash, codeHash })
		if (codeHash === null) {
			changed.set(address, null)
			continue
		}
		const { values, reported } = contractChanges(address, known, now, reads)
		const becomesSafe = now.isSafe && !known.isSafe
		const hasOtherCode = codeHash !== known.codeHash
		if (Object.keys(values).length > 0 || becomesSafe || hasOtherCode) {
			const delta = { ...(hasOtherCode && { codeHash }), ...(becomesSafe && { isSafe: true as const }) }
			changed.set(address, contractWith(known, { block: block.number, values, ...delta }, keep))
		}
		const span = { from: entry.from, to: block.number }
		const denied = deniedEvents({ watch: address, before: known.values, now: now.values, span }, announcements)
		// What a function answers may change without a call to the contract.
		const unseen = entry.isUnseen && reported.some(({ slot, member }) => slot !== null || member !== null)
		const facts = { kind: 'control', watch: address, fromBlock: entry.from, role: null, logIndex: null } as const
		const seen = { ...facts, evidence: 'storage', event: null, ...(unseen && { unseen }) } as const
		const said = withDenied(address, reported, denied)
		if (said.length === 0) continue
		const asked = reported.length === 0 ? Promise.resolve(noTransaction) : transactionOf(entry.transactions)
		finding.push(asked.then((by) => said.map((one) => ({ ...seen, ...by, ...one }))))
	}
	// At once: one after the other, those of ten contracts would take longer on a slow node than a poll may.
	const found = (await Promise.all(finding)).flat()
	const facts = { questions, block, announcements }
	const disputes = await disputesOf(found, facts, second, signal)
	if (disputes.size > 0)
		ports.log.warn({ block: block.number, changes: disputes.size }, 'two endpoints disagree on the state of contracts')
	const all = found.map((one) => (disputes.has(one) ? { ...one, disputed: true as const } : one))
	return { changed, found: all, others, unread }
}

/** One alert for each thing: a change that denies an event, too, says both. */
function withDenied(contract: Address, reported: readonly ControlSeen[], denied: readonly Denied[]) {
	const left = new Map(denied.map((one) => [one.change, one]))
	const all = reported.map((one): ControlSeen & Pick<Found, 'contradicted' | 'contradicts'> => {
		const own = one.contract === contract && one.member === null ? left.get(one.change) : undefined
		if (own === undefined) return one
		left.delete(one.change)
		return { ...one, contradicted: true, contradicts: own.contradicts }
	})
	for (const { change, contradicts, place, previous, current } of left.values()) {
		const { name, slot } = place
		const values = { change, action: 'set', contract, previous, current, slot, member: null, place: name } as const
		all.push({ ...values, contradicted: true, contradicts })
	}
	return all
}

const noTransaction = { txHash: null, txIndex: null, initiator: null } as const

const isOfStorage = (entry: Announcement) => entry.alerts[0]?.data.kind === 'control' && isSeenIn(entry, 'state')

type By = Pick<ControlChanged, 'txHash' | 'txIndex' | 'initiator'>

/** Finds the transaction that made a change, where only one can have made it; asks for each once. */
function createFinder(block: BlockRef, { chain }: PollPorts, signal: AbortSignal) {
	const known = new Map<Hash, Promise<By>>()
	const ask = async (txHash: Hash): Promise<By> => {
		const found = await chain.transaction(txHash, signal)
		if (found === null || found.block.hash !== block.hash || found.trace.succeeded === false) return noTransaction
		return { txHash, txIndex: found.trace.txIndex, initiator: found.trace.frames[0]?.from ?? null }
	}
	return async (transactions: readonly Hash[] | null): Promise<By> => {
		const [txHash, ...others] = transactions ?? []
		if (txHash === undefined || others.length > 0) return noTransaction
		const asked = known.get(txHash) ?? ask(txHash)
		known.set(txHash, asked)
		return await asked
	}
}

async function headerOf(
	block: BlockRef,
	session: PollSession,
	{ chain }: PollPorts,
	signal: AbortSignal,
): Promise<Block> {
	const header = await chain.block(block.number, signal)
	if (header?.hash !== block.hash) throw movedOn(session.config.network, `block ${block.number} was replaced`)
	return header
}
