/** Reads and writes payees as rows, in batches of limited size. */

import type { Address } from '../../../model/glossary.js'
import type { NetworkRecord } from '../../document.js'
import { payeesOf, payeesText } from '../../records/payeesText.js'
import type { Ask } from '../connection/database.js'
import { pieces } from '../connection/pieces.js'

type Payees = NonNullable<NetworkRecord['payees']>

export async function readPayees(ask: Ask, network: string): Promise<Pick<NetworkRecord, 'payees'>> {
	const rows = await ask<{ readonly address: Address; readonly paid: string }>(
		'select address, paid from tracewatch.payee where network = $1 order by address',
		[network],
	)
	return rows.length === 0 ? {} : { payees: new Map(rows.map(({ address, paid }) => [address, payeesOf(paid)])) }
}

/** Writes the entries of `after` that are not in `before`; never deletes any. */
export async function writePayees(
	ask: Ask,
	network: string,
	before: Payees = new Map(),
	after: Payees = new Map(),
): Promise<void> {
	if (before === after) return
	for (const piece of pieces([...after].filter(([address, list]) => before.get(address) !== list))) {
		await ask(
			`insert into tracewatch.payee (network, address, paid)
			select $1, * from unnest($2::text[], $3::text[])
			on conflict (network, address) do update set paid = excluded.paid`,
			[network, piece.map(([address]) => address), piece.map(([, list]) => payeesText(list))],
		)
	}
}
