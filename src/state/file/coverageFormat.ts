/**
 * Coverage to JSON and back. Nearly all addresses share what is said of them, so it is said once, and the addresses
 * follow in base64, 20 bytes each: 27 MB for a million. Version 1 said it of each address by itself, in 116 MB.
 */

import { randomBytes } from 'node:crypto'
import { createTimeSlices } from '../../base/timeSlices.js'
import { coverageTableOf, createCoverageTable } from '../../core/coverageTable.js'
import type { Span } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'
import type { Coverage } from '../../model/watch.js'
import type { CoverageDoc, CoverageRecord, Definition } from '../document.js'
import type { Format, Piece } from './durable.js'

/** What a file of coverage holds. */
export interface StoredCoverage {
	/** Of `coverage.json`: what it is called; of the changes: which one they belong to. */
	readonly id: string
	readonly coverage: CoverageDoc
}

type SpanJson = readonly [from: string, to: string]

interface CoverageJson {
	readonly id: string
	readonly networks: Record<
		string,
		{ readonly backfills: readonly BackfillJson[]; readonly covered: readonly GroupJson[] }
	>
}

interface BackfillJson {
	readonly id: string
	readonly token: string
	readonly span: SpanJson
	/** Packed. */
	readonly addresses: string
}

interface GroupJson {
	readonly since: string
	readonly from: string
	readonly leftAt?: string
	readonly missed?: readonly SpanJson[]
	/** Packed. */
	readonly addresses: string
}

interface Version1 {
	readonly networks: Record<
		string,
		{
			readonly backfills: readonly (Omit<BackfillJson, 'addresses'> & { readonly addresses: readonly Address[] })[]
			readonly covers: Record<Address, { since: string; from: string; leftAt?: string; owed?: readonly SpanJson[] }>
		}
	>
}

export const coverageFormat: Format<StoredCoverage> = {
	version: 2,
	migrations: { 1: (data) => fromVersion1(data as Version1) },
	*encode({ id, coverage }) {
		yield `{"id":${JSON.stringify(id)},"networks":{`
		let comma = ''
		for (const [name, record] of coverage) {
			yield `${comma}${JSON.stringify(name)}:`
			yield* networkText(record)
			comma = ','
		}
		yield '}}'
	},
	async decode(data) {
		const { id, networks } = data as CoverageJson
		const coverage = new Map<string, CoverageRecord>()
		for (const [name, record] of Object.entries(networks)) coverage.set(name, await recordOf(record))
		return { id, coverage }
	},
}

function* networkText({ backfills, covered }: CoverageRecord): Iterable<Piece> {
	yield '{"backfills":['
	let comma = ''
	for (const { id, token, span, addresses } of backfills) {
		yield `${comma}${JSON.stringify({ id, token, span: spanJson(span) }).slice(0, -1)},"addresses":"`
		yield* packed(addresses)
		yield '"}'
		comma = ','
	}
	yield '],"covered":['
	comma = ''
	for (const { coverage, addresses } of coverageTableOf(covered).groups()) {
		const { since, from, leftAt, missed } = coverage
		const said = {
			since: String(since),
			from: String(from),
			...(leftAt === null ? {} : { leftAt: String(leftAt) }),
			...(missed.length === 0 ? {} : { missed: missed.map(spanJson) }),
		}
		yield `${comma}${JSON.stringify(said).slice(0, -1)},"addresses":"`
		yield* packed(addresses())
		yield '"}'
		comma = ','
	}
	yield ']}'
}

/** 20 bytes in base64. */
const charactersEach = 80 / 3

/** In turns: a million addresses are no work for one breath. */
async function recordOf({ backfills, covered }: CoverageJson['networks'][string]): Promise<CoverageRecord> {
	const expected = Math.ceil(covered.reduce((sum, { addresses }) => sum + addresses.length, 0) / charactersEach)
	const table = createCoverageTable({ seed: randomBytes(4).readUInt32LE(), expected })
	const slices = createTimeSlices()
	for (const { since, from, leftAt, missed, addresses } of covered) {
		const coverage: Coverage = {
			since: BigInt(since),
			from: BigInt(from),
			leftAt: leftAt === undefined ? null : BigInt(leftAt),
			missed: (missed ?? []).map(spanOf),
		}
		for (const address of unpacked(addresses)) {
			if (slices.isOver()) await slices.next()
			table.set(address, coverage)
		}
	}
	return {
		backfills: backfills.map(
			(entry): Definition => ({ ...entry, span: spanOf(entry.span), addresses: [...unpacked(entry.addresses)] }),
		),
		covered: table,
	}
}

/** Of the data, not of its text: it is read once, and then written anew. */
function fromVersion1({ networks }: Version1): CoverageJson {
	return {
		id: '',
		networks: Object.fromEntries(
			Object.entries(networks).map(([name, { backfills, covers }]) => [
				name,
				{
					backfills: backfills.map((entry) => ({ ...entry, addresses: [...packed(entry.addresses)].join('') })),
					covered: Object.entries(covers).map(([address, { owed, ...rest }]) => ({
						...rest,
						...(owed === undefined ? {} : { missed: owed }),
						addresses: [...packed([address as Address])].join(''),
					})),
				},
			]),
		),
	}
}

/** 60 bytes at a time are base64 without a filling. */
const perPiece = 3_000

function* packed(addresses: Iterable<Address>): Iterable<string> {
	let hex: string[] = []
	for (const address of addresses) {
		hex.push(address.slice(2))
		if (hex.length < perPiece) continue
		yield Buffer.from(hex.join(''), 'hex').toString('base64')
		hex = []
	}
	yield Buffer.from(hex.join(''), 'hex').toString('base64')
}

/** Of 60,000 bytes. */
const charactersPerPiece = 80_000

/** Piece by piece: 27 MB of base64 at once are 30 ms. */
function* unpacked(text: string): Iterable<Address> {
	for (let from = 0; from < text.length; from += charactersPerPiece) {
		const bytes = Buffer.from(text.slice(from, from + charactersPerPiece), 'base64')
		if (bytes.length % 20 !== 0) throw new Error('addresses are not whole')
		for (let at = 0; at < bytes.length; at += 20) yield `0x${bytes.toString('hex', at, at + 20)}`
	}
}

const spanJson = ({ from, to }: Span): SpanJson => [String(from), String(to)]
const spanOf = ([from, to]: SpanJson): Span => ({ from: BigInt(from), to: BigInt(to) })
