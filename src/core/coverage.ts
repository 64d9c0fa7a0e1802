import type { AddressSet, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Enrolment, Gap } from '../model/state.js'
import type { Backfill, Coverage, Watch, WatchIndex } from '../model/watch.js'
import { createCoverageTable } from './coverageTable.js'

/** What is known of a network's addresses before its watches are read again. */
export interface EnrolmentBasis {
	readonly covered: ReadonlyMap<Address, Coverage>
	readonly backfills: readonly Backfill[]
	/** Blocks at or before the checkpoint that nobody could give yet. */
	readonly gaps?: ReadonlyMap<bigint, Gap>
	/** Number of the last block scanned for all. */
	readonly checkpoint: bigint
	/** Number of the newest block there is now. */
	readonly head: bigint
	/** Of the table that is made; see createAddressTable. */
	readonly seed?: number
}

/** No node traces the genesis block, and some refuse to be asked. */
const firstTracedBlock = 1n

/**
 * Compares the watches with the basis. A new address is covered after the head at which it is first seen, or from the
 * lowest `from_block` of its watches; one that comes back is given what it missed; one that leaves keeps what it still
 * misses. Null when nothing changes. Blocks up to the checkpoint become backfills, so that nobody else waits.
 */
export function enrolment(basis: EnrolmentBasis, watches: WatchIndex): Enrolment | null {
	const steps = enrolmentSteps(basis, watches)
	for (;;) {
		const step = steps.next()
		if (step.done === true) return step.value
	}
}

/** So many addresses a step; a million of them are no work for one breath. */
const perStep = 250

/** The same, with a pause for others after each step. */
export function* enrolmentSteps(basis: EnrolmentBasis, watches: WatchIndex): Generator<undefined, Enrolment | null> {
	const isNew = basis.covered.size === 0
	const covered = createCoverageTable({
		...(basis.seed !== undefined && { seed: basis.seed }),
		expected: isNew ? watches.size : 0,
	})
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

	const fresh: { readonly address: Address; readonly from: bigint }[] = []
	for (const [address, written] of watches.fromBlocks?.() ?? fromBlocksOf(watches)) {
		if (++seen % perStep === 0) yield
		const asked = written === null ? null : max(written, firstTracedBlock)
		const known = isNew ? undefined : basis.covered.get(address)
		if (known === undefined) {
			const since = basis.head + 1n
			const from = asked === null || asked > since ? since : asked
			covered.set(address, { since, from, leftAt: null, missed: [] })
			// Of a million new ones mostly none: what begins after the checkpoint needs no backfill.
			if (from <= basis.checkpoint) fresh.push({ address, from })
			continue
		}
		met++
		let coverage = known
		if (coverage.leftAt !== null) {
			for (const span of coverage.missed) order(address, span.from, span.to)
			order(address, max(coverage.leftAt + 1n, coverage.from), basis.checkpoint)
			coverage = { ...coverage, leftAt: null, missed: [] }
		}
		if (asked !== null && asked < coverage.from) {
			order(address, asked, min(coverage.from - 1n, basis.checkpoint))
			coverage = { ...coverage, from: asked }
		}
		if (coverage !== known) covered.set(address, coverage)
	}

	for (const { from, addresses } of bucketed(fresh, basis.checkpoint)) {
		for (const address of addresses) order(address, from, basis.checkpoint)
	}

	const left = new Set<Address>()
	let running: readonly BackfillSet[] | null = null
	let unread: readonly { readonly span: Span; readonly addresses: AddressSet | null }[] | null = null
	// Where each that it knows was met, none can have left: to look for each of a million again takes a second.
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

/** Whether a block counts for a watch: not before its first block. */
export function isCovered(watch: Watch, coverage: Coverage | undefined, blockNumber: bigint): boolean {
	if (coverage === undefined) return false
	return blockNumber >= (watch.fromBlock ?? coverage.since)
}

/** Whether a block still waits in a backfill of this address; then the other looks leave it alone. */
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
 * New addresses whose first blocks are about as far back share a backfill from the earliest of them: a thousand
 * different `from_block` must not make a thousand passes over the chain. Each watch is still served from its own first
 * block on only.
 */
function bucketed(fresh: readonly { readonly address: Address; readonly from: bigint }[], checkpoint: bigint) {
	const buckets = new Map<number, { from: bigint; readonly addresses: Address[] }>()
	for (const { address, from } of fresh) {
		const magnitude = (checkpoint - from + 1n).toString(2).length
		const bucket = buckets.get(magnitude) ?? { from, addresses: [] }
		buckets.set(magnitude, { from: min(bucket.from, from), addresses: bucket.addresses })
		bucket.addresses.push(address)
	}
	return buckets.values()
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
	// An address never has two backfills that begin and end alike, so its first address makes the name unique.
	return [...jobs].map(([key, job]) => ({ id: `${key}-${job.addresses[0]}`, ...job }))
}

function min(a: bigint, b: bigint): bigint {
	return a < b ? a : b
}

function max(a: bigint, b: bigint): bigint {
	return a > b ? a : b
}
