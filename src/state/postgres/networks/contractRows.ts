/** Reads and writes watched contracts as rows, in batches of limited size. */

import type { Address } from '../../../model/glossary.js'
import type { Commit } from '../../../model/state.js'
import type { NetworkRecord } from '../../document.js'
import { type ContractJson, contractIn, contractJson } from '../../records/contractText.js'
import type { Ask } from '../connection/database.js'
import { pieces } from '../connection/pieces.js'

export async function readContracts(ask: Ask, network: string): Promise<NetworkRecord['contracts']> {
	const rows = await ask<{ readonly address: Address; readonly content: ContractJson }>(
		'select address, content from tracewatch.contract where network = $1 order by address',
		[network],
	)
	return new Map(rows.map(({ address, content }) => [address, contractIn(content)]))
}

/** Null deletes a contract. */
export async function writeContracts(
	ask: Ask,
	network: string,
	changes: NonNullable<Commit['contracts']>,
): Promise<void> {
	for (const piece of pieces(changes, 1_000)) {
		const gone = piece.flatMap(([address, one]) => (one === null ? [address] : []))
		if (gone.length > 0)
			await ask('delete from tracewatch.contract where network = $1 and address = any($2)', [network, gone])
		const there = piece.flatMap(([address, one]) => (one === null ? [] : [[address, one] as const]))
		if (there.length === 0) continue
		await ask(
			`insert into tracewatch.contract (network, address, content)
			select $1, * from unnest($2::text[], $3::json[])
			on conflict (network, address) do update set content = excluded.content`,
			[network, there.map(([address]) => address), there.map(([, one]) => JSON.stringify(contractJson(one)))],
		)
	}
}
