/** Reads and writes coverage and backfills as rows, in batches of limited size. */

import { randomBytes } from 'node:crypto'
import { createCoverageTable } from '../../../core/packed/coverageTable.js'
import type { Span } from '../../../model/chain.js'
import type { Address } from '../../../model/glossary.js'
import type { Coverage } from '../../../model/watch.js'
import type { Definition } from '../../document.js'
import type { Ask } from '../connection/database.js'
import { PIECE, pieces } from '../connection/pieces.js'

type SpanJson = readonly [from: string, to: string]

export async function readCoverage(ask: Ask, network: string): Promise<ReadonlyMap<Address, Coverage>> {
	const covered = createCoverageTable({ seed: randomBytes(4).readUInt32LE() })
	for (let after = ''; ; ) {
		const rows = await ask<CoverageRow>(
			`select address, since, first, left_at, missed from tracewatch.coverage
			where network = $1 and address > $2 order by address limit ${PIECE}`,
			[network, after],
		)
		for (const { address, since, first, left_at, missed } of rows) {
			covered.set(address, {
				since: BigInt(since),
				from: BigInt(first),
				leftAt: left_at === null ? null : BigInt(left_at),
				missed: (missed ?? []).map(([from, to]): Span => ({ from: BigInt(from), to: BigInt(to) })),
			})
		}
		const last = rows.at(-1)
		if (last === undefined || rows.length < PIECE) return covered
		after = last.address
	}
}

interface CoverageRow {
	readonly address: Address
	readonly since: string
	readonly first: string
	readonly left_at: string | null
	readonly missed: readonly SpanJson[] | null
}

export async function writeCoverage(ask: Ask, network: string, covered: ReadonlyMap<Address, Coverage>): Promise<void> {
	for (const piece of pieces(covered)) {
		await ask(
			`insert into tracewatch.coverage (network, address, since, first, left_at, missed)
			select $1, * from unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::json[])
			on conflict (network, address) do update set
				since = excluded.since, first = excluded.first, left_at = excluded.left_at, missed = excluded.missed`,
			[
				network,
				piece.map(([address]) => address),
				piece.map(([, { since }]) => String(since)),
				piece.map(([, { from }]) => String(from)),
				piece.map(([, { leftAt }]) => (leftAt === null ? null : String(leftAt))),
				piece.map(([, { missed }]) => (missed.length === 0 ? null : JSON.stringify(missed.map(spanJson)))),
			],
		)
	}
}

export interface Backfills {
	readonly definitions: readonly Definition[]
	/** Next block of each backfill, by its token. */
	readonly progress: ReadonlyMap<string, bigint>
}

export async function readBackfills(ask: Ask, network: string): Promise<Backfills> {
	const rows = await ask<BackfillRow>(
		`select token, id, first, last, next, addresses from tracewatch.backfill where network = $1 order by place`,
		[network],
	)
	return {
		definitions: rows.map(({ token, id, first, last, addresses }) => ({
			token,
			id,
			span: { from: BigInt(first), to: BigInt(last) },
			addresses,
		})),
		progress: new Map(rows.flatMap(({ token, next }) => (next === null ? [] : [[token, BigInt(next)] as const]))),
	}
}

interface BackfillRow {
	readonly token: string
	readonly id: string
	readonly first: string
	readonly last: string
	readonly next: string | null
	readonly addresses: readonly Address[]
}

/** Replaces all backfills; keeps the progress of those that remain. */
export async function writeBackfills(ask: Ask, network: string, definitions: readonly Definition[]): Promise<void> {
	const tokens = definitions.map(({ token }) => token)
	await ask('delete from tracewatch.backfill where network = $1 and not (token = any($2))', [network, tokens])
	for (const [place, { token, id, span, addresses }] of definitions.entries()) {
		await ask(
			`insert into tracewatch.backfill (network, token, id, place, first, last, addresses)
			values ($1, $2, $3, $4, $5, $6, $7)
			on conflict (network, token) do update set
				place = excluded.place, first = excluded.first, last = excluded.last, addresses = excluded.addresses`,
			[network, token, id, place, String(span.from), String(span.to), addresses],
		)
	}
}

export async function writeProgress(ask: Ask, network: string, progress: ReadonlyMap<string, bigint>): Promise<void> {
	if (progress.size === 0) return
	await ask(
		`update tracewatch.backfill b set next = p.next from unnest($2::text[], $3::numeric[]) p (token, next)
		where b.network = $1 and b.token = p.token`,
		[network, [...progress.keys()], [...progress.values()].map(String)],
	)
}

const spanJson = ({ from, to }: Span): SpanJson => [String(from), String(to)]
