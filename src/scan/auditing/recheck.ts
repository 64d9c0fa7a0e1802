/** Whether a later reading explains a finding announced as unexplained; repeated until there is an answer. */

import { tracedBlockOf } from '../../audit/accessLists.js'
import { signalWithin } from '../../base/waits/deadline.js'
import { inSteps } from '../../base/waits/slices.js'
import { addressOfId } from '../../core/alerts/alertId.js'
import { closes, movementBetween, movementsOf, withPostings } from '../../core/ledger/books.js'
import { txDifferences } from '../../core/ledger/txDifferences.js'
import { noDifference, reconcile } from '../../core/reconcile/reconcile.js'
import { RpcError } from '../../errors.js'
import type { Accounts } from '../../model/books.js'
import type { Block, Part } from '../../model/chain.js'
import type { Chain } from '../../model/ports.js'
import type { Announcement, NetworkState } from '../../model/state.js'
import { judgeAndCommit } from '../committed.js'
import { answersTo } from '../look/answers.js'
import { type PollPorts, type PollSession, write } from '../pollSession.js'

/** `later`: the question cannot be answered now. */
export async function isExplained(
	entry: Announcement,
	block: Block,
	part: Part,
	accounts: Accounts,
	signal: AbortSignal,
): Promise<'yes' | 'no' | 'later'> {
	const data = entry.alerts[0]?.data
	if (data?.kind !== 'unexplained' || data.fromBlock !== data.toBlock) return 'no'
	const { openingWei, closingWei } = data
	if (openingWei === undefined || closingWei === undefined) return 'no'
	const address = addressOfId(entry.id)
	const only = new Set([address])
	try {
		const postings = await accounts.postings(block, only, signal)
		if (data.differenceWei === '0') {
			// The movements sum to zero, so a sum proves nothing: check each transaction against the block's access list.
			const changes = await accounts.changes(block, signal)
			if (changes === null) return 'later'
			const own = part.transactions.filter((tx) => tx.block.number === block.number)
			const traced = tracedBlockOf(block, own, address, postings)
			return txDifferences(address, changes, BigInt(openingWei), traced).length === 0 ? 'yes' : 'no'
		}
		const moved = movementBetween(movementsOf(part.transactions, only), address, block.number, block.number)
		return closes(BigInt(openingWei), withPostings(moved, postings, address), BigInt(closingWei)) ? 'yes' : 'no'
	} catch (error) {
		signal.throwIfAborted()
		if (!(error instanceof RpcError)) throw error
		return error.kind === 'no-data' && error.facts.forNow !== true ? 'no' : 'later'
	}
}

/** Time limit for the rechecks of one poll. */
const MOST_MS = 4_000

/**
 * Checks announcements of settled blocks that came from the state or from signed authorisations: whether their block is
 * still in the chain, and, by reading it again, whether an unexplained balance is explained.
 */
export async function recheck(session: PollSession, ports: PollPorts, outer: AbortSignal): Promise<void> {
	const { chain, log } = ports
	const { accounts, rechecks } = ports.audit
	const { announcements: known, settled, gaps } = session.state
	const asked = rechecks.next(known, settled.number, gaps).map(({ id }) => id)
	if (asked.length === 0) return
	const signal = signalWithin(MOST_MS, outer)
	const ids = new Set(asked)
	const concerns = ({ id }: Announcement) => ids.has(id)

	async function judge({ announcements }: NetworkState) {
		let difference = noDifference
		const answered: string[] = []
		for (const id of asked) {
			const entry = announcements.get(id)
			if (entry === undefined) continue
			const read = async (_: Announcement, block: Block) => await readAgain(entry, block, { accounts, chain }, signal)
			const span = { from: entry.block.number, to: entry.block.number }
			const judges = (one: Announcement) => one === entry
			const sight = { span, present: new Map(), alerts: [], judges, isWhole: false }
			const part = { last: session.head.latest, blocks: new Map() }
			try {
				const answers = await answersTo(announcements, sight, part, { chain, read }, signal)
				difference = await inSteps(reconcile(announcements, sight, answers, difference))
				if (answers.reading.get(id) === 'later') {
					rechecks.failed(id)
					rechecks.rest()
				} else answered.push(id)
			} catch (error) {
				outer.throwIfAborted()
				if (!(error instanceof RpcError) && !signal.aborted) throw error
				log.debug({ alert: id, err: error }, 'an announcement is checked again with a later poll')
				rechecks.failed(id)
				rechecks.rest()
				break
			}
		}
		return { difference, answered }
	}

	await judgeAndCommit(session.committed, concerns, judge, async ({ difference, answered }) => {
		if (difference !== noDifference) await write(session, {}, difference, ports)
		for (const id of answered) rechecks.done(id)
	})
}

async function readAgain(
	entry: Announcement,
	block: Block,
	{ accounts, chain }: { readonly accounts: Accounts; readonly chain: Chain },
	signal: AbortSignal,
): Promise<'yes' | 'no' | 'later'> {
	const span = { from: block.number, to: block.number }
	for await (const part of chain.walkAgain(span, new Set([addressOfId(entry.id)]), signal))
		if (part.last.hash === block.hash) return await isExplained(entry, block, part, accounts, signal)
	return 'later'
}
