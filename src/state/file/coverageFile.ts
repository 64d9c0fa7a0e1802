/**
 * Coverage in two files: `coverage.json` holds all of it, `coverage.changes.json` what has changed since that was
 * written. So an edit of one watch among a million writes a line, and not 27 MB. Up to 20,000 addresses the first is
 * written each time, and the second is not there. Each is written as durable.ts says.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { coverageTableOf, createCoverageTable } from '../../core/coverageTable.js'
import type { Address } from '../../model/glossary.js'
import type { CoverageDoc, CoverageRecord } from '../document.js'
import { coverageFormat } from './coverageFormat.js'
import { damagedError, previousOf } from './damage.js'
import { exists } from './diskErrors.js'
import { durableFile, isWhole } from './durable.js'

/** Addresses that are written each time; more of them, or of changes, and it makes a difference. */
const mostChanges = 20_000

export function coveragePath(folder: string): string {
	return join(folder, 'coverage.json')
}

export function changesPath(folder: string): string {
	return join(folder, 'coverage.changes.json')
}

/** Both files as read; null: there is no `coverage.json`. Throws StateError `damaged`, `newer` or `disk`. */
export interface FoundCoverage {
	readonly id: string
	readonly coverage: CoverageDoc
	readonly touched: Touched
}

/** By network: addresses that differ from `coverage.json`, and perhaps some that do not. */
type Touched = ReadonlyMap<string, ReadonlySet<Address>>

export async function readCoverageFiles(folder: string): Promise<FoundCoverage | null> {
	const whole = await durableFile(coveragePath(folder), coverageFormat).read()
	if (whole === null) return null
	const path = changesPath(folder)
	const changes = await durableFile(path, coverageFormat).read()
	if (changes === null && (await exists(previousOf(path)))) {
		throw await damagedError(path, 'it is missing, though there was one', isWhole(coverageFormat))
	}
	// Of another `coverage.json`: a kill came after the new one, and what they held stands in it.
	if (changes === null || changes.id !== whole.id || whole.id === '') return { ...whole, touched: new Map() }
	const coverage = new Map(whole.coverage)
	for (const [name, { covered, backfills }] of changes.coverage) {
		const table = coverageTableOf(coverage.get(name)?.covered ?? covered)
		if (table !== covered) for (const [address, one] of covered) table.set(address, one)
		coverage.set(name, { covered: table, backfills })
	}
	const touched = new Map([...changes.coverage].map(([name, { covered }]) => [name, new Set(covered.keys())]))
	return { id: whole.id, coverage, touched }
}

export interface CoverageWriter {
	/** Says that these may differ in what is written next. */
	touch(network: string, addresses: Iterable<Address>): void
	/** For lowdb. */
	read(): Promise<CoverageDoc | null>
	write(coverage: CoverageDoc): Promise<void>
}

export function coverageWriter(folder: string, found: FoundCoverage | null): CoverageWriter {
	const whole = durableFile(coveragePath(folder), coverageFormat)
	const changes = durableFile(changesPath(folder), coverageFormat)
	let id = found?.id ?? ''
	const touched = new Map([...(found?.touched ?? [])].map(([name, addresses]) => [name, new Set(addresses)]))

	let isMuch = false

	async function writeWhole(coverage: CoverageDoc): Promise<void> {
		const fresh = randomBytes(9).toString('base64url')
		await whole.write({ id: fresh, coverage })
		id = fresh
		touched.clear()
		isMuch = false
	}

	return {
		touch(network, addresses) {
			const known = touched.get(network) ?? new Set()
			touched.set(network, known)
			for (const address of addresses) {
				if (known.size >= mostChanges) isMuch = true
				// Then all is written, whatever else has changed.
				if (isMuch) return
				known.add(address)
			}
		},
		read: async () => found?.coverage ?? null,
		async write(coverage) {
			if (id === '' || isMuch || sizeOf(coverage) <= mostChanges) return await writeWhole(coverage)
			const part = new Map([...coverage].map(([name, record]) => [name, partOf(record, touched.get(name))]))
			if (sizeOf(part) > mostChanges) await writeWhole(coverage)
			else await changes.write({ id, coverage: part })
		},
	}
}

function partOf({ covered, backfills }: CoverageRecord, touched: ReadonlySet<Address> = new Set()): CoverageRecord {
	const part = createCoverageTable()
	for (const address of touched) {
		const one = covered.get(address)
		if (one !== undefined) part.set(address, one)
	}
	return { covered: part, backfills }
}

function sizeOf(coverage: CoverageDoc): number {
	const sizes = [...coverage.values()].flatMap(({ covered, backfills }) => [
		covered.size,
		...backfills.map(({ addresses }) => addresses.length),
	])
	return sizes.reduce((sum, size) => sum + size, 0)
}
