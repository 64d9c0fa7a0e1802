import type { AddressSet, Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Enrolment, Gap } from '../../model/state.js'
import type { Backfill, Coverage, Watch, WatchIndex } from '../../model/watch.js'
import { createCoverageTable } from '../packed/coverageTable.js'
import { higher, lower } from '../spans.js'
import type { Steps } from '../steps.js'

/** What the state contains about a network's addresses before its watches are enrolled. */
export interface EnrolmentBasis {
	readonly covered: ReadonlyMap<Address, Coverage>
	readonly backfills: readonly Backfill[]
	/** Gaps: blocks at or before the checkpoint that no endpoint could give yet. */
	readonly gaps?: ReadonlyMap<bigint, Gap>
	/** Number of the last block scanned for all watches. */
	readonly checkpoint: bigint
	readonly head: bigint
}

/** No node traces the genesis block, and some return an error for it. */
const firstTracedBlock = 1n

/** Addresses in one step: a million at once take a second, and would block the event loop. */
const perStep = 250

/**
 * Compares the watches with the basis. A new address is covered after the head at which it is first seen, or from the
 * lowest `from_block` of its watches, which may be a later block; one that comes back is given what it missed; one that
 * leaves keeps what it still misses. Null when nothing changes. Blocks up to the checkpoint become backfills, so that
 * no other watch waits. Yields after each step.
 */
export function* enrolmentSteps(basis: EnrolmentBasis, watches: WatchIndex): Generator<undefined, Enrolment | null> {
	const isNew = basis.covered.size === 0
	const covered = createCoverageTable()
	let seen = 0
	/** How many watched addresses the basis knows. */
	let met = 0
	const jobs = new Map<string, { span: Span; addresses: Address[] }>()
	const order = (address: Address, from: bigint, to: bigint) => {
		if (from > to) return
		const key = `${from}-${to}`
		const job = jobs.get(key) ?? { span: { from, to }, addresses: [] }
		job.addresses.push(address)
		jobs.set(key, job)
	}

	const fresh: Buckets = new Map()
	for (const [address, written] of watches.fromBlocks?.() ?? fromBlocksOf(watches)) {
		if (++seen % perStep === 0) yield
		const known = isNew ? undefined : basis.covered.get(address)
		const since = known?.since ?? basis.head + 1n
		const asked = written === null ? since : higher(written, firstTracedBlock)
		// Another watch of the address may have no `from_block`.
		const beginsAtOnce = asked > since && watches.get(address)?.some(({ fromBlock }) => fromBlock === null) === true
		const from = beginsAtOnce ? since : asked
		if (known === undefined) {
			covered.set(address, { since, from, leftAt: null, missed: [] })
			// Most of a million new addresses begin after the checkpoint and need no backfill.
			if (from <= basis.checkpoint) fill(fresh, address, basis.checkpoint - from, from)
			continue
		}
		met++
		let coverage = known
		if (coverage.leftAt !== null) {
			for (const span of coverage.missed) order(address, span.from, span.to)
			order(address, higher(coverage.leftAt + 1n, coverage.from), basis.checkpoint)
			coverage = { ...coverage, leftAt: null, missed: [] }
		}
		if (from < coverage.from) {
			order(address, from, lower(coverage.from - 1n, basis.checkpoint))
			coverage = { ...coverage, from }
		}
		if (coverage !== known) covered.set(address, coverage)
	}

	for (const { from, addresses } of fresh.values()) {
		const key = `${from}-${basis.checkpoint}`
		const job = jobs.get(key)
		// Usually there is none yet; this avoids a second list of a million addresses.
		if (job === undefined) jobs.set(key, { span: { from, to: basis.checkpoint }, addresses })
		else for (const address of addresses) job.addresses.push(address)
	}

	const left = new Set<Address>()
	let running: readonly BackfillSet[] | null = null
	let unread: readonly { readonly span: Span; readonly addresses: AddressSet | null }[] | null = null
	// If every known address was met, none can have left; checking a million of them again takes a second.
	for (const [address, coverage] of met === basis.covered.size ? [] : basis.covered) {
		if (++seen % perStep === 0) yield
		if (coverage.leftAt !== null || watches.has(address)) continue
		left.add(address)
		running ??= basis.backfills.map(({ span, addresses }) => ({ span, addresses: new Set(addresses) }))
		const missed = running.filter((job) => job.addresses.has(address)).map((job) => job.span)
		unread ??= [...(basis.gaps?.values() ?? [])].map(({ block: { number }, addresses }) => {
			return { span: { from: number, to: number }, addresses: addresses && new Set(addresses) }
		})
		for (const { span, addresses } of unread) {
			const isPassed = coverage.from <= span.from && span.to <= basis.checkpoint
			if (isPassed && (addresses === null || addresses.has(address))) missed.push(span)
		}
		covered.set(address, { ...coverage, leftAt: basis.checkpoint, missed })
	}

	if (covered.size === 0) return null
	const backfills = jobs.size === 0 && left.size === 0 ? null : [...remaining(basis.backfills, left), ...named(jobs)]
	return { covered, backfills }
}

/** What changes when the checkpoint moves back: watches that have left missed the blocks that are read again. */
export function* movedBackSteps(covered: EnrolmentBasis['covered'], to: bigint): Steps<Map<Address, Coverage>> {
	const changed = new Map<Address, Coverage>()
	let seen = 0
	for (const [address, coverage] of covered) {
		if (++seen % perStep === 0) yield
		if (coverage.leftAt !== null && coverage.leftAt > to) changed.set(address, { ...coverage, leftAt: to })
	}
	return changed
}

/** Whether a block counts for a watch: not before its first block. */
export function isCovered(watch: Watch, coverage: Coverage | undefined, blockNumber: bigint): boolean {
	if (coverage === undefined) return false
	return blockNumber >= (watch.fromBlock ?? coverage.since)
}

/** Whether a backfill of this address still has to read the block; other looks then leave it out. */
export function isInBackfill(address: Address, blockNumber: bigint, backfills: readonly BackfillSet[]): boolean {
	return backfills.some(
		({ span, addresses }) => span.from <= blockNumber && blockNumber <= span.to && addresses.has(address),
	)
}

/** A backfill with its addresses ready for look-up. */
export interface BackfillSet {
	readonly span: Span
	readonly addresses: AddressSet
}

/**
 * New addresses with similar first blocks share a backfill from the earliest of them, so that a thousand different
 * `from_block` do not cause a thousand passes over the chain. Each watch still gets only blocks from its own first
 * block on. The key is the number of binary digits of the distance to the checkpoint.
 */
type Buckets = Map<number, { from: bigint; readonly addresses: Address[] }>

function fill(buckets: Buckets, address: Address, blocksBack: bigint, from: bigint): void {
	const magnitude = (blocksBack + 1n).toString(2).length
	const bucket = buckets.get(magnitude)
	if (bucket === undefined) {
		buckets.set(magnitude, { from, addresses: [address] })
		return
	}
	bucket.from = lower(bucket.from, from)
	bucket.addresses.push(address)
}

function* fromBlocksOf(watches: WatchIndex): Iterable<readonly [Address, bigint | null]> {
	for (const [address, list] of watches) {
		let lowest: bigint | null = null
		for (const { fromBlock } of list) {
			if (fromBlock !== null && (lowest === null || fromBlock < lowest)) lowest = fromBlock
		}
		yield [address, lowest]
	}
}

function remaining(backfills: readonly Backfill[], left: ReadonlySet<Address>): readonly Backfill[] {
	if (left.size === 0) return backfills
	return backfills
		.map((job) => ({ ...job, addresses: job.addresses.filter((address) => !left.has(address)) }))
		.filter((job) => job.addresses.length > 0)
}

function named(jobs: ReadonlyMap<string, { span: Span; addresses: readonly Address[] }>): readonly Backfill[] {
	// An address never has two backfills with the same first and last block, so its first address makes the id unique.
	return [...jobs].map(([key, job]) => ({ id: `${key}-${job.addresses[0]}`, ...job }))
}
