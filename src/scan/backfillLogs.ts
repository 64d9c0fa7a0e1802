/** Which contracts of a backfill have their own logs read. Entries may not be there yet, and begin at the head. */

import { withOwnLogs } from '../core/matching/contractLogs.js'
import { RpcError } from '../errors.js'
import type { AddressSet } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { Backfill } from '../model/watch.js'
import type { PollPorts, PollSession } from './pollSession.js'

/** By the addresses of a backfill: the store returns the same list while it does not change. */
const known = new WeakMap<readonly Address[], ReadonlySet<Address>>()

/** The addresses with those contracts. Throws RpcError where the code of addresses cannot be asked for now. */
export async function withOldLogs(
	addresses: AddressSet,
	{ job, session }: { readonly job: Backfill; readonly session: PollSession },
	ports: PollPorts,
	signal: AbortSignal,
): Promise<AddressSet> {
	const state = ports.audit.contracts
	if (state === null) return addresses
	const { watches } = session.config
	let set = known.get(job.addresses)
	if (set === undefined) {
		const wanted = job.addresses.filter((one) => watches.get(one)?.some(({ kinds }) => kinds.includes('control')))
		try {
			const hashes = wanted.length === 0 ? new Map() : await state.codeHashes(wanted, session.checkpoint, signal)
			set = new Set(hashes.keys())
		} catch (error) {
			// An endpoint that never gives code must not stop the backfill.
			if (!(error instanceof RpcError) || error.kind !== 'no-data' || error.facts.forNow === true) throw error
			set = new Set(wanted.filter((one) => session.state.contracts.has(one)))
		}
		known.set(job.addresses, set)
	}
	return withOwnLogs(addresses, set)
}
