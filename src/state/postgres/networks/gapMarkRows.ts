/** Writes an operator's commands for gaps, whichever instance polls the network. */

import type { GapMark } from '../../../model/state.js'
import { marked } from '../../gapMarks.js'
import { gapsOf, type StoredGap, storedGap } from '../../records/gap.js'
import type { Database } from '../connection/database.js'
import type { Leases } from './leases.js'

/** Resolves to the number of gaps found. */
export async function markGaps(
	database: Database,
	leases: Pick<Leases, 'standBeside'>,
	{ network, numbers, mark }: { readonly network: string; readonly numbers: readonly bigint[]; readonly mark: GapMark },
): Promise<number> {
	return await database.transact(async (ask) => {
		await leases.standBeside(ask, network)
		const [row] = await ask<{ gaps: readonly StoredGap[] | null }>(
			'select gaps from tracewatch.network where name = $1',
			[network],
		)
		const { gaps, found } = marked(gapsOf(row?.gaps ?? []), numbers, mark)
		if (found === 0) return 0
		// The new revision makes the polling instance read the row again.
		await ask('update tracewatch.network set gaps = $2, revision = revision + 1 where name = $1', [
			network,
			JSON.stringify([...gaps.values()].map(storedGap)),
		])
		return found
	})
}
