import { alertId } from '../../core/alerts/alertId.js'
import { shownChanges } from '../../core/control/changedSlots.js'
import { traceText } from '../../core/events/events.js'
import { isFirstForwarded, type JudgedCode, judgeCode } from '../../core/events/foreignCode.js'
import { codeTurn } from '../../core/matching/codeFlood.js'
import { isCovered } from '../../core/matching/coverage.js'
import { refusal } from '../../core/matching/match.js'
import { isAnnounced, noDifference } from '../../core/reconcile/reconcile.js'
import type { CodeEvent } from '../../kinds/code.js'
import type { Block, TxTrace } from '../../model/chain.js'
import type { Contract, LearntCode } from '../../model/contract.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { SlotChange } from '../../model/kind.js'
import type { Announcement, NetworkState, RanInTransaction } from '../../model/state.js'
import { isIn, judgeAndCommit } from '../committed.js'
import { reconcileWith } from '../look/answers.js'
import { sightOfFindings } from '../look/findingAlerts.js'
import { contextOf } from '../look/lookContext.js'
import { type PollPorts, type PollSession, write } from '../pollSession.js'
import type { CodeAudit } from './codeAudit.js'
import { type Codes, type Facets, knowledgeOf, parentOf, readCodes, reportedChanges } from './codeKnowledge.js'

type Ports = PollPorts & { readonly audit: { readonly code: CodeAudit } & NonNullable<PollPorts['audit']> }

/** Judges one transaction, and commits its alerts together with the pairs that they teach. Throws RpcError. */
export async function judgeOne(
	one: RanInTransaction,
	session: PollSession,
	ports: Ports,
	signal: AbortSignal,
): Promise<void> {
	const { chain } = ports
	const { code } = ports.audit
	const found = await chain.transaction(one.txHash, signal)
	// It was replaced: what takes its place is scanned by itself.
	if (found === null || found.block.hash !== one.hash) return code.done(one, [])
	const { trace, block } = found
	const asks = (contract: Address) => isAsked(contract, block.number, session)
	const codes = await readCodes({ trace, block, head: session.head.latest }, asks, code.reader, signal)
	const known = { state: session.state, codes, asks, block: block.number }
	const alone = [...judgeCode(trace, knowledgeOf(known))]
	const facets = await facetsOf(alone, { block, codes, state: session.state, code }, signal)
	const judged = facets.size === 0 ? alone : [...judgeCode(trace, knowledgeOf({ ...known, facets }))]
	for (const { rule, contract, code: target } of judged)
		if (rule === 'constant') code.gate.noteConstant(contract, target)
	const places = judged.map(({ traceAddress }) => traceText(traceAddress))
	const { number } = block
	const span = { from: number, to: number }
	const part = { span, last: block, blocks: new Map([[number, block]]), transactions: [] }
	const judge = async (state: NetworkState) => {
		const { findings, contracts } = await findingsOf(judged, { trace, block, facets, session, state, ports }, signal)
		if (findings.length === 0 && contracts.size === 0) return { difference: null, contracts }
		const context = contextOf(session, ports, { backfill: null, isSecondLook: false })
		const { announcements } = state
		const judges = ({ txHash, alerts }: Announcement) => txHash === one.txHash && alerts[0]?.data.kind === 'code'
		const sight = { ...sightOfFindings(findings, part, context), judges, isWhole: false }
		const difference = await reconcileWith(announcements, sight, { part, before: noDifference, chain }, signal)
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

function isAsked(contract: Address, block: bigint, { config, state }: PollSession): boolean {
	const watches = config.watches.get(contract) ?? []
	const coverage = state.covered.get(contract)
	return watches.some((watch) => watch.kinds.includes('code') && isCovered(watch, coverage, block))
}

interface Asked {
	readonly block: Block
	readonly codes: Codes
	readonly state: NetworkState
	readonly code: CodeAudit
}

/**
 * All facets of a diamond, also of one behind a proxy: as they were before the block when the first of them runs; as
 * they are after it when an alert said that they changed.
 */
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
	readonly session: PollSession
	readonly state: NetworkState
	readonly ports: Ports
}

/** What to report, and the contracts with what they learnt. */
async function findingsOf(
	judged: readonly JudgedCode[],
	{ trace, block, facets, session, state, ports }: Finding,
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
	for (const one of judged) {
		const { contract, isReported, learns } = one
		const entry = contracts.get(contract) ?? before.get(contract)
		if (learns !== null && entry !== undefined)
			contracts.set(contract, { ...entry, learnt: [...(entry.learnt ?? []), learns] })
		if (!isReported) continue
		const event = eventOf(one, { trace, block, txHash })
		const isRefused = (watches.get(contract) ?? []).every((watch) => refusal(watch, event, 'self') !== null)
		const announced = announcements.get(alertId(network.chainId, event, contract))
		const isNew = !isRefused && (announced === undefined || !isAnnounced(announced))
		const learning = contracts.get(contract) ?? entry
		let count: number | undefined
		if (isNew && learning !== undefined) {
			const turn = codeTurn(learning.runs ?? [], one.code, Number(block.timestampS))
			contracts.set(contract, { ...learning, runs: turn.runs })
			if (!turn.isReported) continue
			count = turn.count
		}
		if (isNew && !changes.has(contract)) {
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
