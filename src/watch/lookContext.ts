/** What a look must know of the poll that it belongs to: who is covered, and why an event of a block comes late. */

import type { BackfillSet } from '../core/coverage.js'
import { isOpen } from '../core/gaps.js'
import { overdueMs } from '../core/target.js'
import type { AddressSet, Block, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Backfill } from '../model/watch.js'
import type { LookContext } from './look.js'
import type { PollPorts, PollSession } from './pollSession.js'

/** For a look at a part of `span`; `backfill` is the one that it serves, null where it serves all. */
export function contextOf(
	session: PollSession,
	span: Span,
	backfill: BackfillSet | null,
	ports: PollPorts,
): LookContext {
	const { config, head, state } = session
	const nowMs = ports.clock()
	const isSecondLook = backfill === null && span.to <= session.checkpoint.number
	const isLatePoll = nowMs - session.scannedAtMs > config.lateAfterMs
	return {
		network: config.network,
		watches: config.watches,
		covered: state.covered,
		backfills: state.backfills.map(backfillSet),
		backfill,
		head,
		nowMs,
		checksum: ports.checksum,
		payees: state.payees ?? new Map(),
		lateReason: (block: Block) => {
			const gap = state.gaps.get(block.number)
			if (gap !== undefined && isOpen(gap)) return 'its block could not be read before'
			if (backfill !== null) return 'scanned afterwards, because the watch covers earlier blocks'
			if (block.number <= session.reorganisedUpTo) return 'entered the chain in a reorganisation'
			if (isSecondLook) return 'found at the second look'
			if (overdueMs(block, session.target, head.latest) > config.lateAfterMs) return 'sent while catching up'
			const isOld = nowMs - Number(block.timestampS) * 1000 > config.lateAfterMs
			return isLatePoll && isOld ? `nothing was scanned since ${new Date(session.scannedAtMs).toISOString()}` : null
		},
	}
}

/** Sets of long lists are made once: the store hands out the same list as long as it does not change. */
const addressSets = new WeakMap<readonly Address[], AddressSet>()

export function backfillSet({ span, addresses }: Backfill): BackfillSet {
	return { span, addresses: addressSet(addresses) }
}

export function addressSet(addresses: readonly Address[]): AddressSet {
	let set = addressSets.get(addresses)
	if (set === undefined) {
		set = new Set(addresses)
		addressSets.set(addresses, set)
	}
	return set
}
