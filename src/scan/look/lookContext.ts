/** Builds the context of a look from the state of its poll: coverage, and why an event of a block is late. */

import { isSliceOver, nextSlice } from '../../base/waits/slices.js'
import { isOpen } from '../../core/gaps.js'
import type { BackfillSet } from '../../core/matching/coverage.js'
import { overdueMs } from '../../core/target.js'
import type { AddressSet, Block } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Backfill } from '../../model/watch.js'
import type { PollPorts, PollSession } from '../pollSession.js'
import type { LookContext } from './look.js'

/** The context of a look. `backfill` is the backfill served, or null for an ordinary look. */
export function contextOf(
	session: PollSession,
	ports: PollPorts,
	{ backfill, isSecondLook }: Pick<LookContext, 'backfill'> & { readonly isSecondLook: boolean },
): LookContext {
	const { config, head, state } = session
	const nowMs = ports.clock()
	const isLatePoll = nowMs - session.scannedAtMs > config.lateAfterMs
	return {
		network: config.network,
		watches: config.watches,
		covered: state.covered,
		contracts: state.contracts,
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
			const { reorganised } = session.committed
			if (reorganised !== null && reorganised.from <= block.number && block.number <= reorganised.to)
				return 'entered the chain in a reorganisation'
			if (isSecondLook) return 'found at the second look'
			if (overdueMs(block, session.target, head.latest) > config.lateAfterMs) return 'sent while catching up'
			const isOld = nowMs - Number(block.timestampS) * 1000 > config.lateAfterMs
			return isLatePoll && isOld ? `nothing was scanned since ${new Date(session.scannedAtMs).toISOString()}` : null
		},
	}
}

/** Caches the set of each list: the store returns the same list object while it does not change. */
const addressSets = new WeakMap<readonly Address[], AddressSet>()

export function backfillSet({ span, addresses }: Backfill): BackfillSet {
	return { span, addresses: addressSet(addresses) }
}

/** Makes the sets of backfills before they are needed, in time slices: a backfill may have a million addresses. */
export async function prepareBackfillSets(backfills: readonly Backfill[]): Promise<void> {
	for (const { addresses } of backfills) {
		if (addressSets.has(addresses)) continue
		const set = new Set<Address>()
		for (const address of addresses) {
			set.add(address)
			if (isSliceOver()) await nextSlice()
		}
		addressSets.set(addresses, set)
	}
}

export function addressSet(addresses: readonly Address[]): AddressSet {
	let set = addressSets.get(addresses)
	if (set === undefined) {
		set = new Set(addresses)
		addressSets.set(addresses, set)
	}
	return set
}
