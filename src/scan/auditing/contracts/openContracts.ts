/** Opens an entry for each watch that has code, at the checkpoint. */

import { signalWithin } from '../../../base/waits/deadline.js'
import { withOwnLogs } from '../../../core/matching/contractLogs.js'
import { RpcError } from '../../../errors.js'
import type { Part } from '../../../model/chain.js'
import type { NetworkState } from '../../../model/state.js'
import type { Watch } from '../../../model/watch.js'
import { isIn, judgeAndCommit } from '../../committed.js'
import { look } from '../../look/look.js'
import { contextOf } from '../../look/lookContext.js'
import { advance, movedOn, type PollPorts, type PollSession, write } from '../../pollSession.js'
import type { AuditPorts } from '../auditPorts.js'

/** Time limit for one poll. */
const MOST_MS = 8_000

/** Does nothing while every watch was asked for its code. */
export async function openContracts(session: PollSession, ports: PollPorts, outer: AbortSignal): Promise<void> {
	const { firstLook, owedLogs } = ports.audit
	const { checkpoint, config, state } = session
	// An endpoint that lags behind the checkpoint cannot give its state yet.
	if (firstLook === null || session.target < checkpoint.number) return
	const signal = signalWithin(MOST_MS, outer)
	try {
		const contracts = await firstLook.open(checkpoint, { ...state, watches: config.watches }, signal)
		if (contracts.size > 0) await advance(session, { contracts }, null, ports)
		for (const [address, entry] of contracts) if (entry?.logsFrom !== undefined) owedLogs.set(address, entry.logsFrom)
		await readOwedLogs(session, ports, signal)
	} catch (error) {
		outer.throwIfAborted()
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		ports.log.debug({ err: error }, 'the code of new watches is asked for again with the next poll')
	}
}

/** Reports events between the block in which contracts got code and the first look; the second look finds the rest. */
async function readOwedLogs(session: PollSession, ports: PollPorts, signal: AbortSignal): Promise<void> {
	const { owedLogs } = ports.audit
	const { watches, network } = session.config
	const { checkpoint } = session
	for (const address of owedLogs.keys()) if (!watches.has(address)) owedLogs.delete(address)
	if (owedLogs.size === 0) return
	const span = {
		from: [...owedLogs.values()].reduce((one, other) => (one < other ? one : other)),
		to: checkpoint.number,
	}
	const addresses = new Set(owedLogs.keys())
	const own = [...addresses].map((address) => [address, ruledOnly(watches.get(address))] as const)
	for await (const part of ports.chain.walk(span, withOwnLogs(addresses, addresses), signal)) {
		if (part.span.to === checkpoint.number && part.last.hash !== checkpoint.hash)
			throw movedOn(network, `block ${checkpoint.number} was replaced`)
		const judge = async ({ announcements }: NetworkState) => {
			const usual = contextOf(session, ports, { backfill: null, isSecondLook: false })
			const context = { ...usual, watches: new Map(own), backfill: { span, addresses } }
			return { difference: await look(part, announcements, context, ports.chain, signal) }
		}
		await judgeAndCommit(session.committed, isIn(part.span), judge, ({ difference }) =>
			write(session, {}, difference, ports),
		)
		for (const address of addresses) owedLogs.set(address, part.span.to + 1n)
	}
	for (const address of addresses) owedLogs.delete(address)
}

/** Everything else in these blocks was reported when they were scanned. */
function ruledOnly(watches: readonly Watch[] = []): readonly Watch[] {
	return watches.flatMap((one) => (one.kinds.includes('control') ? [{ ...one, kinds: ['control'] as const }] : []))
}

/** A watch that was created in these blocks has code by now. */
export function noteCreated({ transactions }: Part, { firstLook }: AuditPorts): void {
	if (firstLook === null) return
	for (const { block, frames } of transactions)
		for (const { type, to } of frames)
			if ((type === 'create' || type === 'create2') && to !== null) firstLook.askAgain(to, block.number)
}
