/** Rows of trace_filter and trace_block as other nodes give them. */
import { toChecksum } from '../../src/config/address.js'
import type { Address } from '../../src/model/glossary.js'
import { createChance } from './chance.js'
import { type Ask, type Dialect, Refused } from './dialectGateway.js'

interface RawRow {
	readonly type: string
	readonly action: Readonly<Record<string, string>>
	readonly result?: Readonly<Record<string, string>> | null
	readonly error?: string
	readonly blockNumber: number
	readonly blockHash: string
	readonly transactionHash?: string | null
	readonly transactionPosition?: number | null
	readonly traceAddress: readonly number[]
}

interface Filter {
	readonly fromBlock: bigint
	readonly toBlock: bigint
	readonly fromAddress: readonly string[] | null
	readonly toAddress: readonly string[] | null
}

const FIELDS = ['fromBlock', 'toBlock', 'fromAddress', 'toAddress', 'after', 'count', 'mode']

/** What the node makes of a filter; null: it answers nothing. */
export function bendFilterCall(dialect: Dialect, raw: object, head: bigint): Filter | null {
	const given = raw as Readonly<Record<string, unknown>>
	const strange = Object.keys(given).find((field) => !FIELDS.includes(field))
	if (strange !== undefined) throw refuse(-32602, `unknown field \`${strange}\``)
	const [fromBlock, toBlock] = [numberOf(given.fromBlock), numberOf(given.toBlock)]
	if (fromBlock > toBlock) throw refuse(-32602, 'fromBlock cannot be greater than toBlock')
	const { range, mostAddresses } = dialect
	if (range !== undefined && toBlock - fromBlock >= BigInt(range.blocks)) {
		throw new Refused({
			error: { code: range.code, message: range.message },
			...(range.status !== undefined && { status: range.status }),
		})
	}
	if (toBlock > head && dialect.beyondHead === 'refused') throw refuse(-32001, `block not found: ${toBlock}`)
	if (toBlock > head && dialect.beyondHead === 'nothing') return null
	if (dialect.falseEmpty === 'always' || (dialect.falseEmpty === 'single' && fromBlock === toBlock)) return null
	const lists = [given.fromAddress, given.toAddress].map((list) => {
		if (list === undefined) return null
		if (!Array.isArray(list)) throw refuse(-32602, 'expected a sequence')
		if (list.length > (mostAddresses ?? Number.POSITIVE_INFINITY)) {
			throw new Refused({ error: { code: -32600, message: 'request entity too large' }, status: 413 })
		}
		// As Anvil and most have it; on Nethermind it matches nothing, so that no one may send it.
		if (list.length === 0) throw new Error('an empty list means something else on every node')
		return list.map((address: string) => address.toLowerCase())
	})
	return { fromBlock, toBlock, fromAddress: lists[0] ?? null, toAddress: lists[1] ?? null }
}

function numberOf(value: unknown): bigint {
	if (typeof value !== 'string' || !/^0x(?:0|[1-9a-f][0-9a-f]*)$/.test(value)) {
		throw refuse(-32602, `invalid value: ${String(value)}, expected a quantity`)
	}
	return BigInt(value)
}

function refuse(code: number, message: string): Refused {
	return new Refused({ error: { code, message } })
}

/** The rows of a range, matched here, because Anvil takes 300 blocks at most. */
export async function filterRows(dialect: Dialect, filter: Filter, ask: Ask): Promise<readonly object[]> {
	const rows: RawRow[] = []
	for (let number = filter.fromBlock; number <= filter.toBlock; number++) {
		rows.push(...blanked(dialect, (await ask('trace_block', [`0x${number.toString(16)}`])) as RawRow[]))
		rows.push(...((await rewardOf(dialect, Number(number), ask)) as RawRow[]))
	}
	const { fromAddress, toAddress } = filter
	if ((fromAddress === null && toAddress === null) || dialect.ignoresLists === true) return rows
	return rows.filter((row) => {
		if (dialect.blindTo?.some((type) => type === row.type) === true) {
			// Besu: a creation is found by its creator still, a self-destruct by no one.
			return row.type === 'create' && isIn(row.action.from, fromAddress) && toAddress === null
		}
		const from = fromAddress !== null && isIn(row.action.from ?? row.action.address, fromAddress)
		const target = row.action.to ?? row.result?.address ?? row.action.refundAddress ?? row.action.author
		const to = toAddress !== null && isIn(target, toAddress)
		if (fromAddress === null || toAddress === null) return from || to
		return dialect.lists === 'both' ? from && to : from || to
	})
}

function blanked({ blankEnds = false }: Dialect, rows: readonly RawRow[]): readonly RawRow[] {
	if (!blankEnds) return rows
	const blank = { refundAddress: `0x${'0'.repeat(40)}`, balance: '0x0' }
	return rows.map((row) => (row.type === 'suicide' ? { ...row, action: { ...row.action, ...blank } } : row))
}

function isIn(address: string | undefined, list: readonly string[] | null): boolean {
	return address !== undefined && (list ?? []).includes(address.toLowerCase())
}

export async function rewardOf({ rewards }: Dialect, number: number, ask: Ask): Promise<readonly object[]> {
	if (rewards === undefined || number === 0) return []
	const header = (await ask('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as { hash: string } | null
	if (header === null) return []
	const row = {
		type: 'reward',
		action: { author: rewards.author, rewardType: 'block', value: `0x${rewards.valueWei.toString(16)}` },
		result: null,
		blockNumber: number,
		blockHash: header.hash,
		subtraces: 0,
		traceAddress: [],
	}
	return [rewards.fields === 'null' ? { ...row, transactionHash: null, transactionPosition: null } : row]
}

/** The same rows in the node's own form. */
export function bendRows(dialect: Dialect, rows: readonly object[]): readonly object[] {
	const given = blanked(dialect, rows as readonly RawRow[])
	const bent = given.map((row) => bendRow(dialect, row, given))
	if (dialect.shuffled !== true) return bent
	const chance = createChance(rows.length)
	const doubled = bent.flatMap((row) => ('transactionHash' in row && chance.percent(40) ? [row, row] : [row]))
	return doubled
		.map((row) => ({ row, at: chance.number(1_000_000) }))
		.sort((a, b) => a.at - b.at)
		.map(({ row }) => row)
}

function bendRow(dialect: Dialect, row: RawRow, all: readonly RawRow[]): object {
	let bent: Record<string, unknown> = { ...row }
	if (row.error !== undefined && dialect.failedResult !== undefined) {
		const { result: _, ...without } = bent
		bent = dialect.failedResult === 'absent' ? without : { ...without, result: null }
	}
	if (row.type === 'create') {
		const { creationMethod, ...action } = row.action
		const sibling = (other: RawRow) =>
			other.transactionHash === row.transactionHash && other.action.creationMethod === 'create2'
		if (dialect.creation === 'unsaid') bent = { ...bent, action }
		if (dialect.creation === 'as type') bent = { ...bent, action, type: creationMethod ?? 'create' }
		if (dialect.creation === 'all of the transaction' && all.some(sibling)) {
			bent = { ...bent, action: { ...action, creationMethod: 'create2' } }
		}
	}
	const number = (value: unknown) => {
		if (typeof value !== 'number') return value
		return dialect.numbers === 'hex' ? `0x${value.toString(16)}` : dialect.numbers === 'decimal' ? `${value}` : value
	}
	for (const field of ['blockNumber', 'transactionPosition']) if (field in bent) bent[field] = number(bent[field])
	if (dialect.numbers === 'decimal') bent.action = mapValues(bent.action, (key, value) => decimal(key, value))
	if (dialect.checksums === true) {
		bent.action = mapValues(bent.action, (_key, value) => checksummed(value))
		bent.result = mapValues(bent.result, (_key, value) => checksummed(value))
	}
	return bent
}

function mapValues(object: unknown, change: (key: string, value: unknown) => unknown): unknown {
	if (typeof object !== 'object' || object === null) return object
	return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(key, value)]))
}

function decimal(key: string, value: unknown): unknown {
	return key === 'value' || key === 'balance' ? BigInt(value as string).toString() : value
}

function checksummed(value: unknown): unknown {
	return typeof value === 'string' && value.length === 42 ? toChecksum(value as Address) : value
}
