import type { SeenEvent } from '../../kinds/list.js'
import type { Withdrawn } from '../../kinds/withdrawal.js'
import type { Block, BlockRef, Part, TxTrace } from '../../model/chain.js'
import type { ControlChanged } from '../../model/kind.js'
import type { TokenEvent } from '../../model/token.js'
import { stepItems } from '../steps.js'
import { callsIn } from './calls.js'
import { eventsIn } from './events.js'

type Shown = Pick<Part, 'transactions' | 'tokens' | 'control' | 'blocks'>
type LogEvent = TokenEvent | ControlChanged

/** Events of one transaction, of one block's rewards, or of one header; a large transaction comes in several pieces. */
export interface TransactionEvents {
	readonly blockNumber: bigint
	/** Events of frames come before events of logs. */
	readonly events: readonly SeenEvent[]
}

/** All events of a part, of every address, in the order of the chain. Those of a header come last in its block. */
export function* eventsByTransaction(part: Shown): Generator<TransactionEvents> {
	const headers = [...part.blocks.values()]
		.filter(({ withdrawals = [] }) => withdrawals.length > 0)
		.sort((a, b) => Number(b.number - a.number))
	for (const one of tracedIn(part)) {
		while ((headers.at(-1)?.number ?? one.blockNumber) < one.blockNumber) yield* ofHeader(headers.pop())
		yield one
	}
	while (headers.length > 0) yield* ofHeader(headers.pop())
}

function* ofHeader(block: Block | undefined): Generator<TransactionEvents> {
	if (block === undefined) return
	const events = (block.withdrawals ?? []).map((one): Withdrawn => ({ kind: 'withdrawal', block, ...one }))
	yield { blockNumber: block.number, events }
}

function* tracedIn(part: Shown): Generator<TransactionEvents> {
	const logs = logsIn(part)
	/** Index of the first event not yet taken. */
	let next = 0
	const take = (): readonly LogEvent[] => {
		const from = next
		while (next < logs.length && logs[next]?.txHash === logs[from]?.txHash) next++
		return logs.slice(from, next)
	}
	for (const tx of part.transactions) {
		while (next < logs.length && isBefore(logs[next], tx)) yield ofLogs(take())
		const own = logs[next]?.txHash === tx.txHash ? take() : []
		let events: SeenEvent[] = []
		const takesRequests = part.blocks.get(tx.block.number)?.takesAuthorisations === true
		for (const event of inFrames(tx)) {
			// Before Prague, no contract takes requests.
			if (event.kind === 'request' && !takesRequests) continue
			if (events.length === stepItems) {
				yield { blockNumber: tx.block.number, events }
				events = []
			}
			events.push(event)
		}
		if (own.length > 0) events = [...events, ...own]
		if (events.length > 0) yield { blockNumber: tx.block.number, events }
	}
	while (next < logs.length) yield ofLogs(take())
}

function* inFrames(tx: TxTrace): Generator<SeenEvent> {
	yield* eventsIn(tx)
	yield* callsIn(tx)
}

/** In a transaction, token transfers come before changes of control. */
function logsIn({ tokens = [], control = [] }: Shown): readonly LogEvent[] {
	if (control.length === 0) return tokens
	return [...tokens, ...control].sort(byTransactionPlace)
}

export function byTransactionPlace(
	one: { readonly block: BlockRef; readonly txIndex: number | null },
	other: { readonly block: BlockRef; readonly txIndex: number | null },
): number {
	if (one.block.number !== other.block.number) return one.block.number < other.block.number ? -1 : 1
	return (one.txIndex ?? 0) - (other.txIndex ?? 0)
}

function ofLogs(events: readonly LogEvent[]): TransactionEvents {
	return { blockNumber: events[0]?.block.number ?? 0n, events }
}

/** Rewards come after all transactions of their block. */
function isBefore(log: LogEvent | undefined, tx: TxTrace): boolean {
	if (log === undefined) return true
	if (log.block.number !== tx.block.number) return log.block.number < tx.block.number
	if (tx.txHash === null) return true
	return (log.txIndex ?? Number.MAX_SAFE_INTEGER) < (tx.txIndex ?? Number.MAX_SAFE_INTEGER)
}
