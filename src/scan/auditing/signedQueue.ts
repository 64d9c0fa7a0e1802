/**
 * Delegations (EIP-7702) in the transactions of blocks that were near the head when they were scanned. The scanner
 * queues the blocks with its commit, and they are read after it: alerts do not wait for them.
 */

import { delegationsSigned, signedChanges, signedInBlock } from '../../audit/delegations/authorizations.js'
import { signalWithin } from '../../base/waits/deadline.js'
import { type Difference, isSeenIn, noDifference } from '../../core/reconcile/reconcile.js'
import { RpcError } from '../../errors.js'
import type { NetworkState, SignedInBlock } from '../../model/state.js'
import type { UnprovedBlock } from '../../model/token.js'
import { isIn, judgeAndCommit } from '../committed.js'
import { reconcileWith } from '../look/answers.js'
import { sightOfFindings } from '../look/findingAlerts.js'
import { contextOf } from '../look/lookContext.js'
import { repeatsOf } from '../look/repeats.js'
import { type PollPorts, type PollSession, write } from '../pollSession.js'
import { notAnnounced } from './delegationsAnnounced.js'

/** A block at which this many polls failed comes after the others. */
const HOLDING_TRIES = 5
/** Such a block is left out, and reported as not covered, this long after its first failure. */
const GIVE_UP_AFTER_MS = 10 * 60_000
/** With more waiting, one is left out at each failure: else more would come than are left out. */
const MOST_WAITING = 128
/** Time limit for one poll. */
const MOST_MS = 8_000

/**
 * Reads the queued blocks in order, and announces what was signed in each. Ends at a block that cannot be read now.
 * Those at which many polls have failed come last.
 */
export async function readSigned(session: PollSession, ports: PollPorts, outer: AbortSignal): Promise<void> {
	const { chain, log, clock } = ports
	const { signedDone, failedReads } = ports.audit
	const timesOf = ({ number }: SignedInBlock) => failedReads.get(number)?.times ?? 0
	const isLast = (one: SignedInBlock) => timesOf(one) >= HOLDING_TRIES
	const waiting = (session.state.audit?.signed ?? []).filter(({ number }) => !signedDone.has(number))
	if (waiting.length === 0) return
	const last = waiting.filter(isLast).sort((one, other) => timesOf(one) - timesOf(other))
	const queue = [...waiting.filter((one) => !isLast(one)), ...last]
	const signal = signalWithin(MOST_MS, outer)
	const { runsOnce } = ports.audit
	let failures = 0
	for (const [at, one] of queue.entries()) {
		if (signal.aborted) return
		if (signedDone.has(one.number)) continue
		try {
			await readOne(one, signal)
			signedDone.add(one.number)
			failedReads.delete(one.number)
		} catch (error) {
			outer.throwIfAborted()
			if (!(error instanceof RpcError) && !signal.aborted) throw error
			const { times, sinceMs } = failedReads.get(one.number) ?? { times: 0, sinceMs: clock() }
			failedReads.set(one.number, { times: times + 1, sinceMs })
			log.debug({ block: one.number, err: error }, 'the authorisations of a block are read again with the next poll')
			const isOver = isLast(one) && clock() - sinceMs >= GIVE_UP_AFTER_MS
			const tooMany = queue.length - at > MOST_WAITING ? (last.pop() ?? one) : null
			const givenUp = tooMany ?? (isOver ? one : null)
			if (givenUp !== null) await giveUp(givenUp, givenUp === one ? { err: error } : {})
			if (givenUp === one) continue
			if (error instanceof RpcError && error.kind === 'unsettled' && !isLast(one)) throw error
			// A program that ends forgets which blocks have failed.
			if (!runsOnce || ++failures >= HOLDING_TRIES) return
		}
	}

	async function giveUp(one: SignedInBlock, why: { readonly err?: unknown }): Promise<void> {
		failedReads.delete(one.number)
		await concludeOne(one, [uncovered(one)])
		log.warn(
			{ block: one.number, ...why },
			'the authorisations of a block could not be read: its delegations are not reported',
		)
	}

	async function readOne(one: SignedInBlock, own: AbortSignal): Promise<void> {
		const { accounts } = ports.audit
		const unproved: UnprovedBlock[] = []
		const onUncovered = (number: bigint) => void unproved.push(uncovered({ number }))
		const reading = { accounts, log, chain, onUncovered }
		const block = await signedInBlock(one, session.config.watches, reading, own)
		const changes = block === null ? [] : signedChanges(block)
		for (const { change } of changes) ports.audit.firstLook?.askAgain(change.address, one.number)
		const found = await delegationsSigned(changes, reading, own)
		if (block === null || found.length === 0) {
			// The queue itself is written with the next commit: until then a kill only reads the block again.
			if (unproved.length > 0) await concludeOne(one, unproved)
			return
		}
		const { number } = one
		const span = { from: number, to: number }
		const part = { span, last: block.block, blocks: new Map([[number, block.block]]), transactions: [] }
		const judge = async ({ announcements }: NetworkState) => {
			const seen = found.map(({ authorised, block: of }) => ({ txHash: authorised?.txHash ?? null, block: of }))
			const repeats = await repeatsOf(seen, announcements, part, chain, own)
			const context = { ...contextOf(session, ports, { backfill: null, isSecondLook: false }), repeats }
			const findings = found.filter((finding) => notAnnounced(finding, number - 1n, announcements))
			const sight = { ...sightOfFindings(findings, part, context), judges: inTransactions, isWhole: false }
			return { difference: await reconcileWith(announcements, sight, { part, before: noDifference, chain }, own) }
		}
		await judgeAndCommit(session.committed, isIn(span), judge, ({ difference }) => commit(one, difference, unproved))
	}

	async function concludeOne(one: SignedInBlock, unproved: readonly UnprovedBlock[]): Promise<void> {
		await session.committed.locked(() => commit(one, null, unproved))
	}

	/** The commit removes the block from the queue. */
	async function commit(
		{ number }: SignedInBlock,
		difference: Difference | null,
		unproved: readonly UnprovedBlock[],
	): Promise<void> {
		signedDone.add(number)
		try {
			await write(session, { unproved }, difference, ports)
		} catch (error) {
			signedDone.delete(number)
			throw error
		}
	}
}

function uncovered({ number }: Pick<SignedInBlock, 'number'>): UnprovedBlock {
	return { number, why: 'authorisations' }
}

const inTransactions = (entry: Parameters<typeof isSeenIn>[0]) => isSeenIn(entry, 'transactions')
