/** Reads and writes announcements as rows, in batches of limited size. */

import type { Hash } from '../../../model/glossary.js'
import type { Announcement } from '../../../model/state.js'
import type { Ask } from '../connection/database.js'
import { pieces } from '../connection/pieces.js'

export async function readAnnouncements(ask: Ask, network: string): Promise<ReadonlyMap<string, Announcement>> {
	const rows = await ask<AnnouncementRow>(
		'select id, block_number, block_hash, content from tracewatch.announcement where network = $1 order by seq',
		[network],
	)
	return new Map(
		rows.map(({ id, block_number, block_hash, content }) => [
			id,
			{ ...content, id, block: { number: BigInt(block_number), hash: block_hash } },
		]),
	)
}

interface AnnouncementRow {
	readonly id: string
	readonly block_number: string
	readonly block_hash: Hash
	readonly content: Omit<Announcement, 'id' | 'block'>
}

/** Writes the entries of `after` that are not in `before`, and deletes those that are gone. */
export async function writeAnnouncements(
	ask: Ask,
	network: string,
	before: ReadonlyMap<string, Announcement>,
	after: ReadonlyMap<string, Announcement>,
): Promise<void> {
	if (before === after) return
	const gone = [...before.keys()].filter((id) => !after.has(id))
	if (gone.length > 0)
		await ask('delete from tracewatch.announcement where network = $1 and id = any($2)', [network, gone])
	for (const piece of pieces([...after.values()].filter((entry) => before.get(entry.id) !== entry))) {
		await ask(
			`insert into tracewatch.announcement (network, id, block_number, block_hash, content)
			select $1, * from unnest($2::text[], $3::numeric[], $4::text[], $5::json[])
			on conflict (network, id) do update set
				block_number = excluded.block_number, block_hash = excluded.block_hash, content = excluded.content`,
			[
				network,
				piece.map(({ id }) => id),
				piece.map(({ block }) => String(block.number)),
				piece.map(({ block }) => block.hash),
				piece.map(({ id: _, block: __, ...content }) => JSON.stringify(content)),
			],
		)
	}
}
