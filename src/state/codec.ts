/**
 * State to JSON and back: amounts and block numbers as decimal text, maps as objects or arrays, no space between.
 * Texts are yielded in pieces, and those of deliveries and told alerts are remembered: a step writes all of the file, but
 * makes text only of what is new.
 */

import type { Address, BlockRef, Cover, Delivery, Hash, Hex, Message, Span, Told } from '../model.js'
import type { CoverageDoc, CoverageRecord, Definition, NetworkRecord, StateDoc, Total } from './document.js'
import type { Format } from './durable.js'

type BlockJson = readonly [number: string, hash: string]
type SpanJson = readonly [from: string, to: string]

interface StateJson {
	networks: Record<
		string,
		{
			chainId: number
			checkpoint: BlockJson
			settled: BlockJson
			updatedAtMs: number
			progress: Record<string, string>
			told: (Omit<Told, 'block'> & { block: BlockJson })[]
		}
	>
	totals: Record<string, Total>
	deliveries: Delivery[]
}

interface CoverageJson {
	networks: Record<
		string,
		{
			backfills: { id: string; token: string; span: SpanJson; addresses: Address[] }[]
			covers: Record<Address, { since: string; from: string; leftAt?: string; owed?: SpanJson[] }>
		}
	>
}

export const stateFormat: Format<StateDoc> = {
	version: 1,
	migrations: {},
	*encode({ networks, totals, deliveries }) {
		yield '{"networks":'
		yield* object(networks, network)
		yield ',"totals":'
		yield* object(totals, (total) => [JSON.stringify(total)])
		yield ',"deliveries":'
		yield* array(deliveries.values(), delivery)
		yield '}'
	},
	decode(data) {
		const { networks, totals, deliveries } = data as StateJson
		return {
			networks: new Map(
				Object.entries(networks).map(
					([name, { checkpoint, settled, progress, told, ...rest }]): [string, NetworkRecord] => [
						name,
						{
							...rest,
							checkpoint: blockOf(checkpoint),
							settled: blockOf(settled),
							progress: new Map(Object.entries(progress).map(([token, next]) => [token, BigInt(next)])),
							told: new Map(told.map((entry) => [entry.id, { ...entry, block: blockOf(entry.block) }])),
						},
					],
				),
			),
			totals: new Map(Object.entries(totals)),
			deliveries: new Map(deliveries.map((entry) => [entry.id, entry])),
		}
	},
}

export const coverageFormat: Format<CoverageDoc> = {
	version: 1,
	migrations: {},
	*encode(coverage) {
		yield '{"networks":'
		yield* object(coverage, covered)
		yield '}'
	},
	decode(data) {
		return new Map(
			Object.entries((data as CoverageJson).networks).map(([name, { backfills, covers }]): [string, CoverageRecord] => [
				name,
				{
					backfills: backfills.map((entry): Definition => ({ ...entry, span: spanOf(entry.span) })),
					covers: new Map(
						(Object.entries(covers) as [Address, (typeof covers)[Address]][]).map(([a, c]) => [a, coverOf(c)]),
					),
				},
			]),
		)
	},
}

function* network({ chainId, checkpoint, settled, updatedAtMs, progress, told }: NetworkRecord): Iterable<string> {
	const facts = { chainId, checkpoint: blockJson(checkpoint), settled: blockJson(settled), updatedAtMs }
	yield `${JSON.stringify(facts).slice(0, -1)},"progress":`
	yield* object(progress, (next) => [`"${next}"`])
	yield ',"told":'
	yield* array(told.values(), toldText)
	yield '}'
}

function* covered({ backfills, covers }: CoverageRecord): Iterable<string> {
	const definitions = backfills.map((entry) => ({ ...entry, span: spanJson(entry.span) }))
	yield `{"backfills":${JSON.stringify(definitions)},"covers":`
	yield* object(covers, (cover) => [coverText(cover)])
	yield '}'
}

const messageTexts = new WeakMap<Message, string>()
const toldTexts = new WeakMap<Told, string>()

function delivery({ message, ...rest }: Delivery): string {
	const text = remembered(messageTexts, message, JSON.stringify)
	return `${JSON.stringify(rest).slice(0, -1)},"message":${text}}`
}

function toldText(entry: Told): string {
	return remembered(toldTexts, entry, () => JSON.stringify({ ...entry, block: blockJson(entry.block) }))
}

function remembered<K extends object>(texts: WeakMap<K, string>, key: K, make: (key: K) => string): string {
	let text = texts.get(key)
	if (text === undefined) {
		text = make(key)
		texts.set(key, text)
	}
	return text
}

function coverText({ since, from, leftAt, owed }: Cover): string {
	const left = leftAt === null ? '' : `,"leftAt":"${leftAt}"`
	const debts = owed.length === 0 ? '' : `,"owed":${JSON.stringify(owed.map(spanJson))}`
	return `{"since":"${since}","from":"${from}"${left}${debts}}`
}

function coverOf({ since, from, leftAt, owed }: CoverageJson['networks'][string]['covers'][Address]): Cover {
	return {
		since: BigInt(since),
		from: BigInt(from),
		leftAt: leftAt === undefined ? null : BigInt(leftAt),
		owed: (owed ?? []).map(spanOf),
	}
}

function* object<V>(map: ReadonlyMap<string, V>, text: (value: V) => Iterable<string>): Iterable<string> {
	let comma = ''
	yield '{'
	for (const [key, value] of map) {
		yield `${comma}${JSON.stringify(key)}:`
		yield* text(value)
		comma = ','
	}
	yield '}'
}

function* array<V>(values: Iterable<V>, text: (value: V) => string): Iterable<string> {
	let comma = ''
	yield '['
	for (const value of values) {
		yield comma + text(value)
		comma = ','
	}
	yield ']'
}

const blockJson = ({ number, hash }: BlockRef): BlockJson => [String(number), hash]
const blockOf = ([number, hash]: BlockJson): BlockRef => ({ number: BigInt(number), hash: hash as Hash & Hex })
const spanJson = ({ from, to }: Span): SpanJson => [String(from), String(to)]
const spanOf = ([from, to]: SpanJson): Span => ({ from: BigInt(from), to: BigInt(to) })
