/** When a block counts as a gap: a block that no endpoint can give. Pure. */

import type { BlockRef, ClientOutcome, Part, SuspectBlock, UnreadTransaction } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Gap } from '../model/state.js'

/**
 * Every source and endpoint is tried at least 3 times and for 10 s before the scan leaves a block out as a gap: every
 * watch waits meanwhile. Nothing is lost, since the gap is kept. If one round takes 25 s, it is enough.
 */
const leastTries = 3
const leastMs = 10_000
/** Applies also if an endpoint did not answer and may come back. */
const longMs = 25_000
/** After 5 minutes, the blocks before it and an empty block after it are enough to show that a source works. */
const longFailingMs = 300_000
/** After a gap this recent, more are likely: one round of tries is enough. */
const besiegedBlocks = 64n
/** With more open gaps than this, the endpoints are at fault, and leaving out more blocks would hide it. */
export const mostGaps = 1_000

/** If every block is refused by what is answered, nothing must stand silent: blocks become gaps after this time. */
const everywhereMs = 60_000
/** Characters of a reason. */
const mostReason = 500
/** How many unread transactions a reason names. */
const mostNamed = 5

/** The reason that is shown for blocks at which a second look is stuck. */
export const notReadAgain = 'could not be read a second time'

/** The suspicion after a failed round that began then. Without a source that answers, only the time is kept. */
export function suspected(
	before: Gap | null,
	{ block, addresses }: Pick<Gap, 'block' | 'addresses'>,
	round: readonly ClientOutcome[],
	{ beganMs, why }: { readonly beganMs: number; readonly why: string },
): Gap {
	const failing = round.filter((came) => came.result === 'fails')
	const known = before?.block.hash === block.hash ? before : null
	if (failing.length === 0 && known !== null) return known
	return {
		block,
		addresses,
		tries: (known?.tries ?? 0) + (failing.length > 0 ? 1 : 0),
		// The clock may have been set back since.
		sinceMs: Math.min(known?.sinceMs ?? beganMs, beganMs),
		isAfterGood: known?.isAfterGood === true || failing.some(({ afterGood }) => afterGood),
		openedAtMs: before?.openedAtMs ?? null,
		reason: reasonOf(round) || why,
	}
}

/** Whether the scan may go on. Soon after another gap one round is enough: else failing blocks come faster. */
export function mayOpen(
	{ block, tries, sinceMs, isAfterGood }: Gap,
	round: readonly ClientOutcome[],
	open: ReadonlySet<bigint>,
	nowMs: number,
): boolean {
	const able = round.filter(({ result }) => result !== 'unable')
	if (able.length > 0 && able.every((outcome) => outcome.result === 'fails' && outcome.certain)) return true
	const ms = nowMs - sinceMs
	const isEverywhere = round.length > 0 && round.every(({ result }) => result !== 'unanswered') && round.some(isAlike)
	if (isEverywhere && (ms >= everywhereMs || isBesieged(block.number, open))) return true
	if (!isAfterGood) return false
	if (isBesieged(block.number, open)) return true
	if (ms >= longMs) return true
	return tries >= leastTries && ms >= leastMs && round.every(({ result }) => result !== 'unanswered')
}

function isAlike(outcome: ClientOutcome): boolean {
	return outcome.result === 'fails' && outcome.everywhere === true
}

/** The part that lacks the fewest transactions. Null: none came, or a source may still give the whole block. */
export function leastLacking(round: readonly ClientOutcome[]): Part | null {
	if (round.some(({ result }) => result === 'unanswered')) return null
	const parts = round.flatMap((outcome) => (outcome.result === 'fails' && outcome.part ? [outcome.part] : []))
	const [least = null] = parts.toSorted((a, b) => (a.unread?.length ?? 0) - (b.unread?.length ?? 0))
	return least
}

/** Names transactions that cannot be read, with the first refusal. */
export function whyUnread(unread: readonly UnreadTransaction[]): string {
	const named = unread.slice(0, mostNamed).map(({ txHash }) => txHash)
	const more = unread.length > mostNamed ? ` and ${unread.length - mostNamed} more` : ''
	return `${unread.length === 1 ? 'transaction' : 'transactions'} ${named.join(', ')}${more}: ${unread[0]?.why}`
}

/** The gap of a block that lacks some transactions. An open gap of all addresses keeps all but its reason. */
export function lackingGap(
	before: Gap | null,
	{ block, addresses }: Pick<Gap, 'block' | 'addresses'>,
	unread: readonly UnreadTransaction[],
	nowMs: number,
): Gap {
	const reason = shortened(whyUnread(unread))
	const known = before?.block.hash === block.hash ? before : null
	if (known !== null && known.openedAtMs !== null) return { ...widened(known, addresses), reason }
	const { tries = 1, sinceMs = nowMs } = known ?? {}
	const transactions = unread.map(({ txHash }) => txHash)
	return { block, addresses, tries, sinceMs, isAfterGood: true, openedAtMs: nowMs, reason, transactions }
}

/** Whether one of the blocks before it is a gap. */
function isBesieged(number: bigint, open: ReadonlySet<bigint>): boolean {
	for (const gap of open) if (gap < number && gap + besiegedBlocks >= number) return true
	return false
}

function reasonOf(round: readonly ClientOutcome[]): string {
	const reasons = round.flatMap(({ client, result, why }) => (result === 'unable' ? [] : [`${client}: ${why}`]))
	return shortened(reasons.join('; '))
}

function shortened(reason: string): string {
	return reason.length > mostReason ? `${reason.slice(0, mostReason - 1)}…` : reason
}

/** Opened, and not read since. */
export function isOpen({ openedAtMs, readAtMs }: Gap): boolean {
	return openedAtMs !== null && readAtMs === undefined
}

/** The operator accepts that the block may stay unread. */
export function isAccepted({ acceptedAtMs }: Gap): boolean {
	return acceptedAtMs !== undefined
}

/** Accepted, and not announced yet. */
export function isAcceptanceNews(gap: Gap): boolean {
	return isOpen(gap) && isAccepted(gap) && gap.isAcceptanceAnnounced !== true
}

/** The same gap with these addresses added; null stands for all addresses. */
export function widened(gap: Gap, addresses: readonly Address[] | null): Gap {
	if (gap.addresses === null) return gap
	// For the further addresses nothing of it may have been read.
	const { transactions: _, ...whole } = gap
	if (addresses === null) return { ...whole, addresses: null }
	return { ...whole, addresses: [...new Set([...gap.addresses, ...addresses])] }
}

export function openAt(gaps: ReadonlyMap<bigint, Gap>): ReadonlySet<bigint> {
	return new Set([...gaps.values()].filter(isOpen).map(({ block }: { block: BlockRef }) => block.number))
}

export function unaccepted(gaps: ReadonlyMap<bigint, Gap>): number {
	return [...gaps.values()].filter((gap) => isOpen(gap) && !isAccepted(gap)).length
}

/** How many nearest blocks are examined; before the block then at growing distances, after it the newest. */
const nearest = 16
const newest = 8
const further = Array.from({ length: 18 }, (_, step) => BigInt(Math.round(nearest * 1.5 ** (step + 1))))

/** The suspect block, with blocks before and after it that are not gaps. */
export function suspectBlockOf(
	number: bigint,
	{ head, open, known, nowMs }: { head: bigint; open: ReadonlySet<bigint>; known: Gap | null; nowMs: number },
): SuspectBlock {
	const isLongFailing = known !== null && nowMs - known.sinceMs >= longFailingMs
	const near = Array.from({ length: nearest }, (_, step) => BigInt(step + 1))
	const before =
		known?.isAfterGood === true && !isLongFailing ? [] : [...near, ...further].map((distance) => number - distance)
	const isAfter = (each: bigint) => each > number && each <= head && !open.has(each)
	const next = near.map((distance) => number + distance).filter(isAfter)
	const last = Array.from({ length: newest }, (_, step) => head - BigInt(step)).filter(isAfter)
	// After a gap, the next block is likely to be another one.
	const isInRow = open.has(number - 1n)
	const [after, furtherAfter] = isInRow ? [last, next] : [next, last]
	const good = before.filter((each) => each > 0n && !open.has(each))
	const wait = isBesieged(number, open) ? 'short' : 'normal'
	const longFailing = isLongFailing ? { later: last.at(-1) ?? null } : undefined
	return { number, before: good, after, furtherAfter, wait, ...(longFailing && { longFailing }) }
}
