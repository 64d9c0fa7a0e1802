/** When a block counts as one that nobody can give. Pure. */

import type { BlockRef, Doubt, Fared } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Gap } from '../model/state.js'

/**
 * Everything is tried so many times, over so long, before the chain goes on without a block: nothing is lost by it, and
 * everybody else waits meanwhile. Where one time takes long, it is enough.
 */
const leastTries = 3
const leastMs = 10_000
/** Also where an endpoint could not be heard: it may be back. */
const longMs = 25_000
/** Whoever has made one so lately is likely to make more: one round says enough. */
const besiegedBlocks = 64n
/** With so many something else is wrong, and going on would hide it. */
export const mostGaps = 1_000

/**
 * The suspicion after one more round in vain, which began then; null while there is none: nobody who can be heard has
 * failed at it.
 */
export function suspected(
	before: Gap | null,
	{ block, addresses }: Pick<Gap, 'block' | 'addresses'>,
	round: readonly Fared[],
	{ beganMs }: { readonly beganMs: number },
): Gap | null {
	const failing = round.filter((fared) => fared.result === 'fails')
	const known = before?.block.hash === block.hash ? before : null
	if (failing.length === 0) return known
	return {
		block,
		addresses,
		tries: (known?.tries ?? 0) + 1,
		sinceMs: known?.sinceMs ?? beganMs,
		isAfterGood: known?.isAfterGood === true || failing.some(({ afterGood }) => afterGood),
		openedAtMs: before?.openedAtMs ?? null,
		reason: reasonOf(round),
	}
}

/**
 * Whether the chain may go on after it. Soon after another gap one round says enough: somebody makes them, and with
 * more for each they would come faster than they are passed.
 */
export function mayOpen(
	{ block, tries, sinceMs, isAfterGood }: Gap,
	round: readonly Fared[],
	open: ReadonlySet<bigint>,
	nowMs: number,
): boolean {
	if (!isAfterGood) return false
	if (isBesieged(block.number, open)) return true
	const ms = nowMs - sinceMs
	if (ms >= longMs) return true
	return tries >= leastTries && ms >= leastMs && round.every(({ result }) => result !== 'unheard')
}

/** Whether one of the blocks before it is a gap. */
function isBesieged(number: bigint, open: ReadonlySet<bigint>): boolean {
	for (const gap of open) if (gap < number && gap + besiegedBlocks >= number) return true
	return false
}

function reasonOf(round: readonly Fared[]): string {
	return round
		.flatMap(({ way, result, why }) => (result === 'unable' ? [] : [`${way}: ${why}`]))
		.join('; ')
		.slice(0, 500)
}

export function isOpen({ openedAtMs }: Gap): boolean {
	return openedAtMs !== null
}

/** A person has taken it that the block may stay unread. */
export function isAccepted({ acceptedAtMs }: Gap): boolean {
	return acceptedAtMs !== undefined
}

/** Accepted, and nobody was told yet. */
export function isAcceptanceNews(gap: Gap): boolean {
	return isOpen(gap) && isAccepted(gap) && gap.isAcceptanceAnnounced !== true
}

/** The same gap for these addresses besides; null stands for everybody. */
export function widened(gap: Gap, addresses: readonly Address[] | null): Gap {
	if (gap.addresses === null || addresses === null) return { ...gap, addresses: null }
	return { ...gap, addresses: [...new Set([...gap.addresses, ...addresses])] }
}

/** Numbers of the open gaps. */
export function openAt(gaps: ReadonlyMap<bigint, Gap>): ReadonlySet<bigint> {
	return new Set([...gaps.values()].filter(isOpen).map(({ block }: { block: BlockRef }) => block.number))
}

/** How many open gaps nobody has accepted. */
export function unaccepted(gaps: ReadonlyMap<bigint, Gap>): number {
	return [...gaps.values()].filter((gap) => isOpen(gap) && !isAccepted(gap)).length
}

/** Nearest blocks that are looked at for transactions; before the block then ever further away, after it the newest. */
const nearest = 16
const newest = 8
const further = Array.from({ length: 18 }, (_, step) => BigInt(Math.round(nearest * 1.5 ** (step + 1))))

/** A block in doubt, and blocks on both sides of it that are no gaps. */
export function doubtOf(
	number: bigint,
	{ head, open, isAfterGood }: { head: bigint; open: ReadonlySet<bigint>; isAfterGood: boolean },
): Doubt {
	const near = Array.from({ length: nearest }, (_, step) => BigInt(step + 1))
	const before = isAfterGood ? [] : [...near, ...further].map((distance) => number - distance)
	const isAfter = (each: bigint) => each > number && each <= head && !open.has(each)
	const next = near.map((distance) => number + distance).filter(isAfter)
	const last = Array.from({ length: newest }, (_, step) => head - BigInt(step)).filter(isAfter)
	// In a row of gaps the next block is likely to be another.
	const isInRow = open.has(number - 1n)
	const [after, furtherAfter] = isInRow ? [last, next] : [next, last]
	const good = before.filter((each) => each > 0n && !open.has(each))
	return { number, before: good, after, furtherAfter, wait: isBesieged(number, open) ? 'moment' : 'earnest' }
}
