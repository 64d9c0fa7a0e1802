/** What a person says of gaps, written beside whichever instance polls their network. */

import type { GapMark } from '../../model/state.js'
import { gapsOf, type StoredGap, storedGap } from '../gap.js'
import { marked } from '../gapMarks.js'
import type { Database } from './database.js'
import type { Leases } from './leases.js'

/** Resolves to how many were found. */
export async function markGaps(
	database: Database,
	leases: Pick<Leases, 'standBeside'>,
	network: string,
	numbers: readonly bigint[],
	mark: GapMark,
): Promise<number> {
	return await database.transact(async (ask) => {
		await leases.standBeside(ask, network)
		const [row] = await ask<{ gaps: readonly StoredGap[] | null }>(
			'select gaps from tracewatch.network where name = $1',
			[network],
		)
		const { gaps, found } = marked(gapsOf(row?.gaps ?? []), numbers, mark)
		if (found === 0) return 0
		// By the new revision the instance that polls sees that it must read it anew.
		await ask('update tracewatch.network set gaps = $2, revision = revision + 1 where name = $1', [
			network,
			JSON.stringify([...gaps.values()].map(storedGap)),
		])
		return found
	})
}
