import type { Address } from '../model/glossary.js'
import { advance, type PollPorts, type PollSession } from './pollSession.js'

/**
 * Where a poll had no new block to close books over, those of new watches are opened at the checkpoint: what moves a
 * balance until the next block comes is found then, however late that is.
 */
export async function openBooks(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { state, config, head, checkpoint } = session
	const open = ports.books?.bookkeeper.open
	if (open === undefined || session.blocks > 0n) return
	const since = (address: Address) => state.covered.get(address)?.since ?? 0n
	const before = state.booksSeen && { before: state.booksSeen }
	const facts = { watches: config.watches, books: state.books, head: head.latest.number, since, ...before }
	const opening = await open(checkpoint, facts, signal)
	if (opening === null) return
	session.books = opening.summary
	await advance(session, { books: opening.books }, null, ports)
}
