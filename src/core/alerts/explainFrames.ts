import { formatAmount } from '../../base/amount.js'
import type { Called } from '../../kinds/call.js'
import type { SeenEvent } from '../../kinds/list.js'
import { refusals } from '../../kinds/refusal.js'
import type { Frame, TxTrace } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Network, WatchIndex } from '../../model/watch.js'
import { type BorrowedCode, borrowedCodeIn } from '../events/borrowedCode.js'
import { callsIn } from '../events/calls.js'
import { judge, type Reason, type Verdict } from '../events/effective.js'
import { eventsOf, type FramedEvent, traceText } from '../events/events.js'
import { type CodeKnowledge, type JudgedCode, judgeCode } from '../events/foreignCode.js'
import { createPathMap, type PathMap } from '../events/paths.js'
import { groupedBy } from '../lists.js'
import { refusal, sides } from '../matching/match.js'

export interface ExplainContext {
	readonly network: Pick<Network, 'symbol' | 'decimals' | 'tokens'>
	readonly watches: WatchIndex
	readonly checksum: (address: Address) => string
	/** What is known about the code that watches ran; absent: it is not judged. */
	readonly code?: CodeKnowledge
}

export interface ExplainedFrame {
	readonly traceAddress: readonly number[]
	/** Lines of the tree before the frame. */
	readonly branch: string
	readonly text: string
	/** Whether the frame counts for a watch, and why; one line for each watch. */
	readonly verdicts: readonly string[]
	/** Whether an alert is sent for it. */
	readonly isSent: boolean
}

/** The call tree of a transaction in the order of its trace; each frame with its meaning for the watches. */
export function explain(tx: TxTrace, context: ExplainContext): readonly ExplainedFrame[] {
	const verdicts = judge(tx)
	const events = byPlace<FramedEvent>(eventsOf(tx))
	const calls = byPlace(callsIn(tx))
	const borrowed = byPlace(borrowedCodeIn(tx))
	const judged = new Map<string, JudgedCode>()
	for (const one of context.code === undefined ? [] : judgeCode(tx, context.code))
		judged.set(traceText(one.traceAddress), one)
	const lastSteps = lastStepsOf(verdicts)
	return verdicts.map((verdict) => {
		const place = traceText(verdict.frame.traceAddress)
		const found = verdictsOf(verdict, { events: events.get(place) ?? [], calls: calls.get(place) ?? [] }, context)
		const ran = (borrowed.get(place) ?? []).flatMap((one) => borrowedInWords(one, judged.get(place), context))
		return {
			traceAddress: verdict.frame.traceAddress,
			branch: branchOf(verdict.frame.traceAddress, lastSteps),
			text: frameText(verdict.frame, context),
			verdicts: [...found.lines, ...ran.map(({ line }) => line)],
			isSent: found.isSent || ran.some(({ isSent }) => isSent),
		}
	})
}

function byPlace<E extends Pick<FramedEvent, 'traceAddress'>>(events: Iterable<E>): ReadonlyMap<string, readonly E[]> {
	return groupedBy(events, ({ traceAddress }) => traceText(traceAddress))
}

interface Shown {
	readonly events: readonly FramedEvent[]
	readonly calls: readonly Called[]
}

/** A call has a line for each watch with `calls` only. */
function verdictsOf(verdict: Verdict, { events, calls }: Shown, context: ExplainContext) {
	const moved = verdict.counts
		? wordsOn(events, context)
		: { lines: [`does not count: ${notCounted[verdict.reason]}`], isSent: false }
	const named = calls.filter(({ contract }) =>
		context.watches.get(contract)?.some((watch) => watch.calls !== undefined),
	)
	if (named.length === 0) return moved
	const called = wordsOn(named, context)
	return { lines: [...moved.lines, ...called.lines], isSent: moved.isSent || called.isSent }
}

const choices: Readonly<Record<BorrowedCode['chosenBy'], string>> = {
	caller: 'the caller chose this code: its address stands in the data of the call above',
	unknown: 'the data of the call above is too long to say whether the caller chose this code',
	forwarded: 'it handed on the whole call, as a proxy does',
	contract: 'the call above does not name this code',
}

/** A line for each watch in whose storage the code ran. */
function borrowedInWords(
	{ contract, code, chosenBy }: BorrowedCode,
	judged: JudgedCode | undefined,
	{ watches, checksum }: ExplainContext,
) {
	return (watches.get(contract) ?? []).map(({ label, watchlist, kinds, allowedCode }) => {
		const name = `${label ?? checksum(contract)} (${watchlist})`
		const line = `${name} ran the code of ${checksum(code)} in its own storage; ${choices[chosenBy]}`
		if (judged === undefined) return { line, isSent: false }
		if (allowedCode?.includes(code) === true) return { line: `${line} (quiet: allowed_code names it)`, isSent: false }
		const isSent = judged.isReported && kinds.includes('code')
		return { line: `${line} (${ruleInWords(judged)})`, isSent }
	})
}

function ruleInWords({ rule, name, isReported, learns }: JudgedCode): string {
	switch (rule) {
		case 'place':
			return 'quiet: it stands in a known place of the contract'
		case 'constant':
			return 'quiet: its address is a constant in ordinary code'
		case 'library':
			return `known library ${name}, ${isReported ? 'reported each time' : 'quiet'}`
		case 'caller':
			return 'chosen by the caller, reported each time'
	}
	const what = rule === 'forwarded' ? 'code of a proxy' : 'other code'
	if (isReported) return `${what}, reported ${learns === null ? 'each time: it can change, or is gone' : 'once'}`
	if (learns !== null && rule === 'forwarded') return `${what}, quiet: the first such code`
	return `${what}, quiet: it ran before, and was reported or was the first`
}

/** The verdicts of the watches on both sides of events. */
export function wordsOn(events: readonly SeenEvent[], context: ExplainContext) {
	const lines: string[] = []
	let isSent = false
	for (const event of events) {
		for (const { address, direction } of sides(event)) {
			for (const watch of context.watches.get(address) ?? []) {
				const name = `${watch.label ?? context.checksum(address)} (${watch.watchlist})`
				const refused = refusal(watch, event, direction, context.network.tokens)
				if (refused === 'endowment') continue
				if (refused !== null) lines.push(`no alert for ${name}: ${refusals[refused]}`)
				else {
					isSent = true
					lines.push(`counts for ${name}: ${event.kind}, ${direction} → ${watch.receivers.join(', ')}`)
				}
			}
		}
	}
	return { lines: lines.length > 0 ? lines : ['counts, but neither side is watched'], isSent }
}

const notCounted: Readonly<Record<Reason, string>> = {
	moved: '',
	created: '',
	failed: 'it failed',
	'failed-above': 'it stands under a call that failed, so it was undone',
	'failed-transaction': 'the receipt says that the transaction failed',
	'moves-nothing': 'this kind of call moves no coins, whatever value it shows',
	'no-value': 'no coins move',
	'to-itself': 'a self-destruct to itself has no recipient; where the contract ends by it, its coins are burnt',
	'created-nothing': 'no contract came of it',
	'not-its-own': 'the contract it names is not the one that ran, so the node has filled this row wrongly',
}

function frameText(frame: Frame, { network, watches, checksum }: ExplainContext): string {
	const name = (address: Address | null) => {
		if (address === null) return 'nothing'
		const label = watches.get(address)?.find((watch) => watch.label !== null)?.label
		return label == null ? checksum(address) : `${label} ${checksum(address)}`
	}
	const word = (frame.callType ?? frame.type).toUpperCase()
	const value = frame.valueWei === 0n ? '' : `  ${formatAmount(frame.valueWei, network.decimals)} ${network.symbol}`
	const error = frame.error === null ? '' : `  FAILED: ${frame.error}`
	return `${word}  ${name(frame.from)} → ${name(frame.to)}${value}${error}`
}

/** `│  ├─ `: the line of an ancestor continues while another of its children follows. */
function branchOf(path: readonly number[], lastSteps: PathMap<number>): string {
	let branch = ''
	for (let depth = 1; depth <= path.length; depth++) {
		const hasMore = (lastSteps.get(path.slice(0, depth - 1)) ?? 0) > (path[depth - 1] ?? 0)
		if (depth === path.length) branch += hasMore ? '├─ ' : '└─ '
		else branch += hasMore ? '│  ' : '   '
	}
	return branch
}

/** The number of the last child, by the path of its parent. */
function lastStepsOf(verdicts: readonly Verdict[]): PathMap<number> {
	const lastSteps = createPathMap<number>()
	for (const { frame } of verdicts) {
		const parent = frame.traceAddress.slice(0, -1)
		const step = frame.traceAddress.at(-1)
		if (step !== undefined) lastSteps.set(parent, Math.max(step, lastSteps.get(parent) ?? 0))
	}
	return lastSteps
}
