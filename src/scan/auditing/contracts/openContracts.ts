/** Opens an entry for each watch that has code, at the checkpoint. */

import { signalWithin } from '../../../base/waits/deadline.js'
import { RpcError } from '../../../errors.js'
import type { Part } from '../../../model/chain.js'
import { advance, type PollPorts, type PollSession } from '../../pollSession.js'
import type { AuditPorts } from '../auditPorts.js'

/** Time limit for one poll. */
const MOST_MS = 8_000

/** Does nothing while every watch was asked for its code. */
export async function openContracts(
	session: PollSession,
	ports: PollPorts & { readonly audit: AuditPorts },
	outer: AbortSignal,
): Promise<void> {
	const { firstLook } = ports.audit
	const { checkpoint, config, state } = session
	// An endpoint that lags behind the checkpoint cannot give its state yet.
	if (firstLook === null || session.target < checkpoint.number) return
	const signal = signalWithin(MOST_MS, outer)
	try {
		const contracts = await firstLook.open(checkpoint, { watches: config.watches, contracts: state.contracts }, signal)
		if (contracts.size > 0) await advance(session, { contracts }, null, ports)
	} catch (error) {
		outer.throwIfAborted()
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		ports.log.debug({ err: error }, 'the code of new watches is asked for again with the next poll')
	}
}

/** A watch that was created in these blocks has code by now. */
export function noteCreated({ transactions }: Part, { firstLook }: AuditPorts): void {
	if (firstLook === null) return
	for (const { frames } of transactions)
		for (const { type, to } of frames)
			if ((type === 'create' || type === 'create2') && to !== null) firstLook.askAgain(to)
}
