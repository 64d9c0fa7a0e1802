/** The row of a network: its checkpoint and its latest facts for `status`. */

import type { BlockRef } from '../../../model/chain.js'
import type { Hash } from '../../../model/glossary.js'
import type { Seen } from '../../../model/state.js'
import type { NetworkRecord } from '../../document.js'
import { type AuditJson, auditIn, auditJson } from '../../records/auditState.js'
import { gapsOf, type StoredGap, storedGap } from '../../records/gap.js'
import type { Ask } from '../connection/database.js'
import type { Skew } from '../connection/skew.js'

export interface NetworkRow {
	readonly name: string
	readonly chain_id: number
	readonly checkpoint_number: string
	readonly checkpoint_hash: Hash
	readonly settled_number: string
	readonly settled_hash: Hash
	readonly updated_at_ms: number
	readonly seen: Seen | null
	readonly gaps: readonly StoredGap[] | null
	readonly audit: AuditJson | null
	readonly revision: number
	readonly coverage_revision: number
}

export async function writeRow(
	ask: Ask,
	{ name, record, revision }: { readonly name: string; readonly record: NetworkRecord; readonly revision: number },
	skew: Skew,
): Promise<void> {
	const { chainId, checkpoint, settled, updatedAtMs, seen, gaps, audit } = record
	await ask(
		`insert into tracewatch.network (name, chain_id, checkpoint_number, checkpoint_hash, settled_number, settled_hash,
			updated_at_ms, revision, seen, gaps, audit, coverage_revision)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0)
		on conflict (name) do update set
			checkpoint_number = $3, checkpoint_hash = $4, settled_number = $5, settled_hash = $6,
			updated_at_ms = $7, revision = $8, seen = $9, gaps = $10, audit = $11`,
		[
			name,
			chainId,
			String(checkpoint.number),
			checkpoint.hash,
			String(settled.number),
			settled.hash,
			skew.toDatabase(updatedAtMs),
			revision,
			seen === undefined ? null : JSON.stringify(seen),
			gaps.size === 0 ? null : JSON.stringify([...gaps.values()].map(storedGap)),
			audit === undefined ? null : JSON.stringify(auditJson(audit)),
		],
	)
}

export function recordOf(
	row: NetworkRow,
	skew: Skew,
): Omit<NetworkRecord, 'announcements' | 'progress' | 'books' | 'contracts'> {
	const block = (number: string, hash: Hash): BlockRef => ({ number: BigInt(number), hash })
	return {
		chainId: row.chain_id,
		checkpoint: block(row.checkpoint_number, row.checkpoint_hash),
		settled: block(row.settled_number, row.settled_hash),
		updatedAtMs: skew.fromDatabase(row.updated_at_ms),
		...(row.seen === null ? {} : { seen: row.seen }),
		...(row.audit === null ? {} : { audit: auditIn(row.audit) }),
		gaps: gapsOf(row.gaps ?? []),
	}
}
