import { isKeepingState } from '../../audit/asked/askedState.js'
import { alertId, type Repeats } from '../../core/alerts/alertId.js'
import { shownChanges } from '../../core/control/changedSlots.js'
import { traceText } from '../../core/events/events.js'
import { isFirstForwarded, type JudgedCode, judgeCode } from '../../core/events/foreignCode.js'
import { codeTurn } from '../../core/matching/codeFlood.js'
import { isCovered } from '../../core/matching/coverage.js'
import { refusal } from '../../core/matching/match.js'
import { isAnnounced, noDifference } from '../../core/reconcile/reconcile.js'
import { parentOf } from '../../core/spans.js'
import { RpcError } from '../../errors.js'
import type { CodeEvent } from '../../kinds/code.js'
import type { AddressSet, Block, BlockRef, TxTrace } from '../../model/chain.js'
import type { CodeReader, Contract, LearntCode } from '../../model/contract.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { SlotChange } from '../../model/ownFields.js'
import type { Announcement, NetworkState, RanInTransaction } from '../../model/state.js'
import { isIn, judgeAndCommit } from '../committed.js'
import { reconcileWith } from '../look/answers.js'
import { sightOfFindings } from '../look/findingAlerts.js'
import { contextOf } from '../look/lookContext.js'
import { repeatsOf } from '../look/repeats.js'
import { type PollPorts, type PollSession, write } from '../pollSession.js'
import type { CodeAudit } from './codeAudit.js'
import { type Codes, type Facets, knowledgeOf, readCodes, reportedChanges } from './codeKnowledge.js'

type Ports = PollPorts & { readonly audit: { readonly code: CodeAudit } }

/** What judging the transactions of one poll needs; it asks for nothing twice. */
export interface Judging {
	readonly session: PollSession
	readonly ports: Ports
	readonly transaction: (txHash: Hash) => ReturnType<Ports['chain']['transaction']>
	/** The watches, with the code that they run. */
	readonly addresses: AddressSet
	readonly signal: AbortSignal
}

export function judgingOf(session: PollSession, addresses: AddressSet, ports: Ports, signal: AbortSignal): Judging {
	const { audit, chain } = ports
	const { reader } = audit.code
	const facets = onceByKey((address: Address, block: BlockRef) => reader.facets(address, block, signal))
	const changes = onceByKey((txHash: Hash, address: Address) => reader.changedBy(txHash, address, signal))
	const own: CodeReader = {
		codes: reader.codes,
		facets: (address, block) => facets(`${address} ${block.hash}`, address, block),
		changedBy: (txHash, address) => changes(`${txHash} ${address}`, txHash, address),
	}
	const transactions = onceByKey((txHash: Hash) => chain.transaction(txHash, signal))
	return {
		session,
		ports: { ...ports, audit: { ...audit, code: { ...audit.code, reader: own } } },
		transaction: (txHash) => transactions(txHash, txHash),
		addresses,
		signal,
	}
}

function onceByKey<A extends readonly unknown[], T>(ask: (...args: A) => Promise<T>) {
	const asked = new Map<string, Promise<T>>()
	return (key: string, ...args: A): Promise<T> => {
		const before = asked.get(key)
		if (before !== undefined) return before
		const answer = ask(...args)
		asked.set(key, answer)
		return answer
	}
}

interface Ran {
	readonly trace: TxTrace
	readonly block: Block
	readonly codes: Codes
}

/**
 * Reads what judging a transaction needs, beside other transactions; null: it was replaced. What takes its place is
 * scanned by itself. `isLast`: what cannot be read is not known, and is reported. Throws RpcError.
 */
export async function readOne(one: RanInTransaction, judging: Judging, isLast: boolean): Promise<Ran | null> {
	const { session, ports, signal } = judging
	const found = await transactionOf(one, judging, isLast)
	if (found === null || found.block.hash !== one.hash) return null
	const { trace, block } = found
	const { audit, chain } = ports
	const asks = (contract: Address) => isAsked(contract, one, session)
	const question = { trace, block, head: session.head.latest, isLast }
	const reading = { codes: audit.code.reader, accounts: audit.accounts, chain }
	const ran = { trace, block, codes: await readCodes(question, asks, reading, signal) }
	// What a verdict needs besides is asked for now, beside the others.
	const { judged, facets } = await verdictsOn(one, ran, judging)
	await findingsOf(judged, { trace, block, facets, session, state: session.state, ports }, signal)
	return ran
}

/** The tree; in its place the frames of the watches as the scanner sees them, if it cannot be read again and again. */
async function transactionOf(one: RanInTransaction, judging: Judging, isLast: boolean) {
	try {
		const found = await judging.transaction(one.txHash)
		if (found === null) return await replacedOrUnread(one, judging)
		if (found.block.hash === one.hash) return found
		// One hash may stand in two blocks of the chain (Celo, Cronos), and the node gives one of them by hash.
		return await transactionIn(one, judging)
	} catch (error) {
		if (!isLast || !(error instanceof RpcError)) throw error
		const found = await transactionIn(one, judging)
		if (found === null) throw error
		return found
	}
}

/**
 * A node that does not have the block yet, or keeps no index of transactions, says of a transaction in the chain that
 * it is in no block. Null: its block was replaced. Far from the head, only the index can be missing.
 */
async function replacedOrUnread(one: RanInTransaction, judging: Judging) {
	const { session, ports, signal } = judging
	const now = await ports.chain.block(one.number, signal)
	if (now !== null && now.hash !== one.hash) return null
	if (!isKeepingState(one.number, session.head.latest.number)) return await transactionIn(one, judging)
	const words = `no endpoint gives transaction ${one.txHash} of block ${one.number}`
	throw new RpcError(words, { kind: 'no-data', endpoint: session.config.network.name, forNow: true })
}

async function transactionIn(one: RanInTransaction, { ports, addresses, signal }: Judging) {
	const span = { from: one.number, to: one.number }
	for await (const { transactions, blocks } of ports.chain.walk(span, addresses, signal)) {
		const trace = transactions.find(({ txHash }) => txHash === one.txHash)
		const block = blocks.get(one.number)
		if (trace !== undefined && block !== undefined) return { trace, block }
	}
	return null
}

async function verdictsOn(one: RanInTransaction, { trace, block, codes }: Ran, { session, ports, signal }: Judging) {
	const asks = (contract: Address) => isAsked(contract, one, session)
	const known = { state: session.state, codes, asks, block: block.number }
	const alone = [...judgeCode(trace, knowledgeOf(known))]
	const facets = await facetsOf(alone, { block, codes, state: session.state, code: ports.audit.code }, signal)
	const judged = facets.size === 0 ? alone : [...judgeCode(trace, knowledgeOf({ ...known, facets }))]
	return { judged, facets }
}

/** Judges a transaction, and commits its alerts together with the pairs that they teach. Throws RpcError. */
export async function judgeOne(one: RanInTransaction, ran: Ran | null, judging: Judging): Promise<void> {
	const { session, ports, signal } = judging
	const { code } = ports.audit
	if (ran === null) return code.done(one, [])
	const { trace, block } = ran
	const { judged, facets } = await verdictsOn(one, ran, judging)
	for (const { rule, contract, code: target } of judged)
		if (rule === 'constant') code.gate.noteConstant(contract, target)
	const places = judged.map(({ traceAddress }) => traceText(traceAddress))
	const { number } = block
	const span = { from: number, to: number }
	const part = { span, last: block, blocks: new Map([[number, block]]), transactions: [] }
	const judge = async (state: NetworkState) => {
		const repeats = await repeatsOf([{ txHash: one.txHash, block }], state.announcements, part, ports.chain, signal)
		const finding = { trace, block, facets, session, state, ports, repeats }
		const { findings, contracts } = await findingsOf(judged, finding, signal)
		if (findings.length === 0 && contracts.size === 0) return { difference: null, contracts }
		const context = { ...contextOf(session, ports, { backfill: null, isSecondLook: false }), repeats }
		const { announcements } = state
		const judges = ({ id, txHash, alerts }: Announcement) =>
			txHash === one.txHash && alerts[0]?.data.kind === 'code' && id.endsWith(one.contract ?? '')
		const sight = { ...sightOfFindings(findings, part, context), judges, isWhole: false }
		const before = { part, before: noDifference, chain: ports.chain }
		const difference = await reconcileWith(announcements, sight, before, signal)
		return { difference, contracts }
	}
	await judgeAndCommit(session.committed, isIn(span), judge, async ({ difference, contracts }) => {
		code.done(one, places)
		if (difference === null) return
		try {
			await write(session, { contracts }, difference, ports)
		} catch (error) {
			code.undo(one)
			throw error
		}
	})
}

function isAsked(contract: Address, one: RanInTransaction, { config, state }: PollSession): boolean {
	if (one.contract !== undefined && one.contract !== contract) return false
	const watches = config.watches.get(contract) ?? []
	const coverage = state.covered.get(contract)
	return watches.some((watch) => watch.kinds.includes('code') && isCovered(watch, coverage, one.number))
}

interface Asked {
	readonly block: Block
	readonly codes: Codes
	readonly state: NetworkState
	readonly code: CodeAudit
}

/** All facets of a diamond, behind a proxy too: before the block, or after it when an alert said that they changed. */
async function facetsOf(
	judged: readonly JudgedCode[],
	{ block, codes, state, code }: Asked,
	signal: AbortSignal,
): Promise<Facets> {
	const found = new Map<Address, readonly LearntCode[]>()
	const parent = codes.isLate ? codes.at : parentOf(block)
	for (const { contract, caller, code: target, chosenBy, learns } of judged) {
		if (chosenBy !== 'forwarded' || learns === null || found.has(contract)) continue
		const isFirst = isFirstForwarded(caller, state.contracts.get(contract)?.learnt ?? [])
		const isChanged = () => reportedChanges(contract, state.announcements).some(({ change }) => change === 'facets')
		if (!isFirst && !isChanged()) continue
		const facets = await code.reader.facets(contract, isFirst ? parent : codes.at, signal)
		if (!facets.includes(target)) continue
		const common = { block: block.number, caller, callerHash: learns.callerHash, forwarded: true } as const
		const hashes = await code.reader.codes(facets, codes.at, signal)
		found.set(
			contract,
			[...hashes].map(([callee, { hash }]) => ({ ...common, callee, calleeHash: hash })),
		)
	}
	return found
}

interface Finding {
	readonly trace: TxTrace
	readonly block: Block
	readonly facets: Facets
	readonly repeats?: Repeats
	readonly session: PollSession
	readonly state: NetworkState
	readonly ports: Ports
}

/** Alerts of one watch and transaction; the last stands for all others: a stranger can make thousands. */
const MOST_REPORTED = 21

/** What to report, and the contracts with what they learnt. */
async function findingsOf(
	judged: readonly JudgedCode[],
	{ trace, block, facets, session, state, ports, repeats = new Set() }: Finding,
	signal: AbortSignal,
): Promise<{ readonly findings: readonly CodeEvent[]; readonly contracts: ReadonlyMap<Address, Contract> }> {
	const { announcements, contracts: before } = state
	const { network, watches } = session.config
	const txHash = trace.txHash as Hash
	const contracts = new Map<Address, Contract>()
	const changes = new Map<Address, readonly SlotChange[] | null>()
	const findings: CodeEvent[] = []
	for (const [contract, pairs] of facets) {
		const entry = before.get(contract)
		if (entry !== undefined) contracts.set(contract, { ...entry, learnt: [...(entry.learnt ?? []), ...pairs] })
	}
	/** Places of the alerts in `findings`, by contract. */
	const reported = new Map<Address, readonly number[]>()
	for (const one of judged) {
		const { contract, isReported, learns } = one
		const entry = contracts.get(contract) ?? before.get(contract)
		const event = eventOf(one, { trace, block, txHash })
		const isRefused = (watches.get(contract) ?? []).every((watch) => refusal(watch, event, 'self') !== null)
		const own = reported.get(contract) ?? []
		const last = findings[own[MOST_REPORTED - 1] ?? -1]
		if (isReported && !isRefused && last?.foreign) {
			const count = (last.foreign.count ?? 1) + 1
			findings[own.at(-1) ?? 0] = { ...last, foreign: { ...last.foreign, count } }
			continue
		}
		if (learns !== null && entry !== undefined)
			contracts.set(contract, { ...entry, learnt: [...(entry.learnt ?? []), learns] })
		if (!isReported) continue
		const announced = announcements.get(alertId(network.chainId, event, contract, repeats))
		const isNew = !isRefused && (announced === undefined || !isAnnounced(announced))
		const learning = contracts.get(contract) ?? entry
		let count: number | undefined
		if (isNew && learning !== undefined) {
			const turn = codeTurn(learning.runs ?? [], event.foreign, Number(block.timestampS))
			contracts.set(contract, { ...learning, runs: turn.runs })
			if (!turn.isReported) continue
			count = turn.count
		}
		if (!isRefused) reported.set(contract, [...own, findings.length])
		// By hash the node gives the changes of the other occurrence.
		if (isNew && !changes.has(contract) && repeats.size === 0) {
			const changed = await ports.audit.code.reader.changedBy(txHash, contract, signal)
			changes.set(contract, changed)
		}
		const { input, from, initiator, code } = event.foreign
		const known = { isSafe: entry?.isSafe ?? false, values: entry?.values ?? {} }
		const all = changes.get(contract) ?? null
		const changed = all && shownChanges(all, known, { input, others: [from, initiator, code] })
		findings.push({ ...event, foreign: { ...event.foreign, changed, ...(count !== undefined && { count }) } })
	}
	return { findings, contracts }
}

function eventOf(
	{ contract, code, callType, traceAddress, input, entry, facts, name, rule }: JudgedCode,
	{ trace, block, txHash }: { readonly trace: TxTrace; readonly block: Block; readonly txHash: Hash },
): CodeEvent & { readonly foreign: NonNullable<CodeEvent['foreign']> } {
	const [root] = trace.frames
	return {
		kind: 'code',
		address: contract,
		block,
		foreign: {
			txHash,
			txIndex: trace.txIndex,
			traceAddress,
			callType: callType ?? 'delegatecall',
			input,
			code,
			codeHash: facts?.hash ?? null,
			codeName: name,
			chosenByCaller: rule === 'caller' || rule === 'library',
			from: entry.from,
			entryInput: entry.input ?? '',
			initiator: root?.traceAddress.length === 0 ? root.from : null,
			changed: null,
		},
	}
}
