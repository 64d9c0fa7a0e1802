import type { ChainEvent, FrameEvent } from '../model/alert.js'
import type { Frame, TxTrace } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Network, WatchIndex } from '../model/watch.js'
import { formatAmount } from './amount.js'
import { judge, type Reason, type Verdict } from './effective.js'
import { eventsOf, traceText } from './events.js'
import { type Refusal, refusal, sides } from './match.js'
import { createPathMap, type PathMap } from './paths.js'

export interface ExplainContext {
	readonly network: Pick<Network, 'symbol' | 'decimals' | 'tokens'>
	readonly watches: WatchIndex
	readonly checksum: (address: Address) => string
}

/** One frame of a drawn call tree. */
export interface ExplainedFrame {
	/** Its path. */
	readonly traceAddress: readonly number[]
	/** Lines of the tree before the frame. */
	readonly branch: string
	/** What the frame is, in a line. */
	readonly text: string
	/** Whether it counts for a watch, and why or why not; a line for each watch. */
	readonly verdicts: readonly string[]
	/** An alert is sent for it. */
	readonly isSent: boolean
}

/** The call tree of a transaction in the order of its trace, each frame with what it means for the watches. */
export function explain(tx: TxTrace, context: ExplainContext): readonly ExplainedFrame[] {
	const verdicts = judge(tx)
	const events = new Map<string, FrameEvent[]>()
	for (const event of eventsOf(tx)) {
		const key = traceText(event.traceAddress)
		const before = events.get(key)
		if (before === undefined) events.set(key, [event])
		else before.push(event)
	}
	const lastSteps = lastStepsOf(verdicts)
	return verdicts.map((verdict) => {
		const found = verdictsOf(verdict, events.get(traceText(verdict.frame.traceAddress)) ?? [], context)
		return {
			traceAddress: verdict.frame.traceAddress,
			branch: branchOf(verdict.frame.traceAddress, lastSteps),
			text: frameText(verdict.frame, context),
			verdicts: found.lines,
			isSent: found.isSent,
		}
	})
}

function verdictsOf(verdict: Verdict, events: readonly FrameEvent[], context: ExplainContext) {
	if (!verdict.counts) return { lines: [`does not count: ${notCounted[verdict.reason]}`], isSent: false }
	return wordsOn(events, context)
}

/** What each watch of either side has to say of events. */
export function wordsOn(events: readonly ChainEvent[], context: ExplainContext) {
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
	'to-itself': 'a self-destruct to itself pays nobody',
	'created-nothing': 'no contract came of it',
	'not-its-own': 'the contract it names is not the one that ran, so the node has filled this row wrongly',
}

const refusals: Readonly<Record<Refusal, string>> = {
	direction: 'the other direction is watched',
	kinds: 'this kind is not watched',
	endowment: 'the deployment carries the endowment',
	min_value: 'below its min_value',
	tokens: 'this token is not one of its `tokens`',
	zero: 'it moves nothing, which is told with `tokens: all` only',
	min_amount: 'below the min_amount of the token',
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

/** `│  ├─ `: a line goes on downwards where another child of that ancestor is still to come. */
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
