import { type ContractQuestion, readContracts } from '../../../audit/contracts/readContracts.js'
import { contractChanges } from '../../../core/control/contractChanges.js'
import { withoutAnnounced } from '../../../core/control/oneChange.js'
import { RpcError } from '../../../errors.js'
import type { BlockRef } from '../../../model/chain.js'
import type { ContractState } from '../../../model/contract.js'
import type { ControlChanged } from '../../../model/kind.js'
import type { Announcement } from '../../../model/state.js'

type Found = Omit<ControlChanged, 'block'>

interface Facts {
	readonly questions: readonly ContractQuestion[]
	readonly block: BlockRef
	readonly announcements: ReadonlyMap<string, Announcement>
}

/**
 * The changes that only storage shows, and that the second reader does not show after the same block. They are reported
 * all the same: which of the two endpoints is wrong is not known. Empty where the second reader fails.
 */
export async function disputesOf(
	found: readonly Found[],
	{ questions, block, announcements }: Facts,
	second: ContractState,
	signal: AbortSignal,
): Promise<ReadonlySet<Found>> {
	const own = new Map(found.map((one) => [{ ...one, block }, one] as const))
	const { news } = withoutAnnounced([...own.keys()], announcements)
	const watches = new Set(news.flatMap(({ watch, contradicted }) => (contradicted ? [] : [watch])))
	const asked = questions.filter(({ address }) => watches.has(address))
	if (asked.length === 0) return new Set()
	try {
		const readings = await readContracts(asked, block, second, signal)
		const shown = new Set<string>()
		for (const { address, known, reads } of asked) {
			const now = readings.get(address)
			if (now === undefined || known === null) continue
			for (const one of contractChanges(address, known, now, reads).reported) shown.add(wordsOf(address, one))
		}
		const disputed = news.filter((one) => !one.contradicted && !shown.has(wordsOf(one.watch, one)))
		return new Set(disputed.flatMap((one) => own.get(one) ?? []))
	} catch (error) {
		if (error instanceof RpcError && !signal.aborted) return new Set()
		throw error
	}
}

function wordsOf(watch: string, one: Pick<ControlChanged, 'change' | 'action' | 'contract' | 'member' | 'current'>) {
	return [watch, one.change, one.action, one.contract, one.member, one.current].join(' ')
}
