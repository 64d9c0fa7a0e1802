/** Reads contracts in turn, failed contracts, and contracts whose beacon or admin changed. */

import { isKeepingState } from '../../../audit/asked/askedState.js'
import { signalWithin } from '../../../base/waits/deadline.js'
import { RpcError } from '../../../errors.js'
import type { Address } from '../../../model/glossary.js'
import type { PollPorts, PollSession } from '../../pollSession.js'
import { type ContractEntry, readBlock } from './touchedContracts.js'

/** Time limit for one poll. */
const MOST_MS = 8_000

/** Reads at the checkpoint, once every block before it was read in which contracts were entered. */
export async function rotateContracts(session: PollSession, ports: PollPorts, outer: AbortSignal): Promise<void> {
	const { contracts: reader, reads, rotation, touchedDone } = ports.audit
	const { checkpoint, head, target, state } = session
	const { contracts } = state
	if (reader === null || contracts.size === 0 || target < checkpoint.number) return
	if (!isKeepingState(checkpoint.number, head.latest.number)) return
	if (state.audit?.touched?.some(({ hash }) => !touchedDone.has(hash)) === true) return
	const signal = signalWithin(MOST_MS, outer)
	const due = new Set([...reads.toRead(), ...rotation.next(contracts)])
	try {
		const moved = await rotation.follow(contracts, checkpoint, reader, signal)
		const jobs: (readonly [Address, ContractEntry])[] = []
		for (const address of due) {
			const contract = contracts.get(address)
			const from = contract && rotation.from(address, contract)
			if (from !== undefined && from <= checkpoint.number && !moved.has(address))
				jobs.push([address, { from, transactions: null, isUnseen: !rotation.isEntered(address, from) }])
		}
		for (const [address, from] of moved) jobs.push([address, { from, transactions: null }])
		if (jobs.length === 0) return
		const job = { block: checkpoint, answers: [], contracts: new Map(jobs), isInTurn: true } as const
		const left = await readBlock(job, session, ports, { left: new Set(), signal })
		rotation.wereRead(
			jobs.flatMap(([address]) => (left.has(address) ? [] : [address])),
			checkpoint.number,
		)
	} catch (error) {
		outer.throwIfAborted()
		if (!(error instanceof RpcError) && !signal.aborted) throw error
		ports.log.debug({ err: error }, 'contracts that no frame entered are read with a later poll')
	}
}
