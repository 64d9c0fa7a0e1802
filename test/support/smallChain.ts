/** A chain of a few blocks that exists only as answers: enough for every question that the program asks a node. */

import * as Hash from 'ox/Hash'
import * as Rlp from 'ox/Rlp'

type Hex = `0x${string}`

const word = (n: number, bytes: number) => `0x${n.toString(16).padStart(bytes * 2, '0')}`
export const addressOf = (n: number) => `0x${(0xabc0 + n).toString(16).padStart(40, '9')}` as const
const blockHash = (n: number) => word(0xb10c0000 + n, 32)
const txHash = (block: number, n: number) => word(0x7a000000 + block * 16 + n, 32)
const hex = (n: number | bigint) => `0x${n.toString(16)}`

export const headNumber = 40
export const watched = addressOf(1)
/** Calls watched with value in its second frame. */
export const payment = { block: 39, txHash: txHash(39, 1) }

interface Row {
	readonly action: { readonly from: string; readonly to?: string }
	readonly result: { readonly address?: string }
}

interface Filter {
	readonly fromBlock: string
	readonly toBlock: string
	readonly fromAddress?: readonly string[]
	readonly toAddress?: readonly string[]
}

function header(n: number): object {
	return {
		...namesOf(n),
		number: hex(n),
		hash: blockHash(n),
		parentHash: blockHash(n - 1),
		timestamp: hex(1_700_000_000 + n * 12),
		difficulty: '0x0',
		transactions: [txHash(n, 0), txHash(n, 1)],
	}
}

/** Of each transaction: a call that pays watched by a call inside, and makes a contract. */
function frames(n: number, place: number): { path: number[]; type: string; from: string; to: string; value: bigint }[] {
	const root = { path: [], type: 'call', from: addressOf(10 + place), to: addressOf(20), value: 5n }
	const inner = { path: [0], type: 'call', from: addressOf(20), to: watched, value: BigInt(n) }
	const made = { path: [1], type: 'create', from: addressOf(20), to: addressOf(100 + n * 2 + place), value: 0n }
	return [root, inner, made]
}

function rows(n: number, place: number): Row[] {
	return frames(n, place).map(({ path, type, from, to, value }) => ({
		type,
		action:
			type === 'call'
				? { from, to, value: hex(value), callType: 'call', gas: '0x1', input: '0x' }
				: { from, value: hex(value), init: '0x60' },
		result: type === 'call' ? { gasUsed: '0x1', output: '0x' } : { address: to, code: '0x00', gasUsed: '0x1' },
		subtraces: path.length === 0 ? 2 : 0,
		traceAddress: path,
		blockNumber: n,
		blockHash: blockHash(n),
		transactionHash: txHash(n, place),
		transactionPosition: place,
	}))
}

function tree(n: number, place: number): object {
	const [root, ...inner] = frames(n, place).map(({ type, from, to, value }) => ({
		type: type.toUpperCase(),
		from,
		to,
		value: hex(value),
		gas: '0x1',
		gasUsed: '0x1',
		input: '0x',
	}))
	return { ...root, calls: inner }
}

const places = [0, 1]
/** keccak-256 of Transfer(address,address,uint256). */
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
export const token = addressOf(30)
const topicOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

interface LogRow {
	readonly address: string
	readonly topics: readonly string[]
	readonly data: string
	readonly blockNumber: string
	readonly blockHash: string
	readonly transactionHash: string
	readonly logIndex: string
}

/** Each transaction pays watched some of a token. */
function logOf(n: number, place: number): LogRow {
	return {
		address: token,
		topics: [transfer, topicOf(addressOf(20)), topicOf(watched)],
		data: word(n * 10 + place, 32),
		blockNumber: hex(n),
		blockHash: blockHash(n),
		transactionHash: txHash(n, place),
		logIndex: hex(place),
	}
}

function receipt(n: number, place: number): Record<string, unknown> {
	return {
		type: '0x2',
		from: addressOf(10 + place),
		blockNumber: hex(n),
		blockHash: blockHash(n),
		transactionHash: txHash(n, place),
		transactionIndex: hex(place),
		status: '0x1',
		cumulativeGasUsed: hex(21_000 * (place + 1)),
		gasUsed: hex(21_000),
		effectiveGasPrice: '0x1',
		logsBloom: bloomOf([logOf(n, place)]),
		logs: [logOf(n, place)],
	}
}

function bloomOf(logs: readonly LogRow[]): Hex {
	const bits = new Uint8Array(256)
	for (const value of logs.flatMap(({ address, topics }) => [address, ...topics])) {
		const digest = Hash.keccak256(value as Hex, { as: 'Bytes' })
		for (const at of [0, 2, 4]) {
			const bit = (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047
			bits[255 - (bit >> 3)] = (bits[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
		}
	}
	return `0x${Buffer.from(bits).toString('hex')}`
}

/** The root of two entries: a branch whose children are leaves, at the nibbles 0 (the place 1) and 8 (the place 0). */
function receiptsRootOf(n: number): Hex {
	const encoded = places.map((place) => {
		const { address, topics, data } = logOf(n, place)
		const { cumulativeGasUsed, logsBloom } = receipt(n, place) as { cumulativeGasUsed: Hex; logsBloom: Hex }
		const fields = ['0x01', even(cumulativeGasUsed), logsBloom, [[address, [...topics], data]]]
		return Buffer.concat([Uint8Array.of(2), Rlp.fromHex(fields as never, { as: 'Bytes' })])
	})
	// Keys are the RLP of the places: 0x80 and 0x01. What is left of each after its first nibble: 0 and 1.
	const leaf = (path: number, value: Uint8Array) =>
		Hash.keccak256(Rlp.fromBytes([Uint8Array.of(0x30 + path), value]), { as: 'Bytes' })
	const [first, second] = encoded as [Buffer, Buffer]
	const branch: Uint8Array[] = Array.from({ length: 17 }, () => new Uint8Array())
	branch[8] = leaf(0, first)
	branch[0] = leaf(1, second)
	return Hash.keccak256(Rlp.fromBytes(branch), { as: 'Hex' })
}

const even = (quantity: Hex): Hex => (quantity.length % 2 === 0 ? quantity : `0x0${quantity.slice(2)}`)

/** The balance of watched changes in the second transaction, by what its frames pay. */
function accessListOf(n: number): readonly object[] {
	return [{ address: watched, balanceChanges: [{ index: 2, value: hex(balanceAfter(n)) }] }]
}

/** [[address, [], [], [[index, balance]], [], []]], as EIP-7928 hashes it. */
function accessListHashOf(n: number): Hex {
	const changes = [['0x02', even(hex(balanceAfter(n)) as Hex)]]
	return Hash.keccak256(Rlp.fromHex([[watched, [], [], changes, [], []]] as never, { as: 'Bytes' }), { as: 'Hex' })
}

/** Each block up to it has paid its number twice. */
const balanceAfter = (n: number) => n * (n + 1)

const named = new Map<number, object>()

/** What a header names its lists by. */
function namesOf(n: number): object {
	const known = named.get(n)
	if (known !== undefined) return known
	const logs = places.map((place) => logOf(n, place))
	const names = {
		logsBloom: bloomOf(logs),
		receiptsRoot: receiptsRootOf(n),
		blockAccessListHash: accessListHashOf(n),
	}
	named.set(n, names)
	return names
}

interface LogFilter {
	readonly blockHash?: string
	readonly fromBlock?: string
	readonly toBlock?: string
	readonly address?: readonly string[]
	readonly topics?: readonly (readonly string[] | null)[]
}

function logsBy({ blockHash: of, fromBlock, toBlock, address, topics = [] }: LogFilter): readonly LogRow[] {
	const all: LogRow[] = []
	for (let n = 1; n <= headNumber; n += 1) {
		const isIn = of === undefined ? n >= Number(fromBlock) && n <= Number(toBlock) : of === blockHash(n)
		if (isIn) all.push(...places.map((place) => logOf(n, place)))
	}
	return all.filter(
		(log) =>
			(address === undefined || address.includes(log.address)) &&
			topics.every((list, at) => list === null || list.includes(log.topics[at] ?? '')),
	)
}

/** After a block, by its number or hash: of watched what it was paid, of others nothing. */
function balanceBy(address: string, block: unknown): number {
	const hash = typeof block === 'object' && block !== null && 'blockHash' in block ? String(block.blockHash) : null
	const n = hash === null ? Number(block) : numberOf(hash)
	return address === watched ? balanceAfter(n) : 0
}

/** Of a block's hash. */
const numberOf = (hash: string) => Number(BigInt(hash) - 0xb10c0000n)

function balancesBy(data: string, block: unknown): string {
	const addresses = data.slice(2).match(/.{40}/g) ?? []
	// Eight bytes of the hash of no code, then the balance.
	const words = addresses.map(
		(each) => `c5d2460186f7233c${balanceBy(`0x${each}`, block).toString(16).padStart(48, '0')}`,
	)
	return `0x${words.join('')}`
}

const exists = (n: number) => n > 0 && n <= headNumber

/** What a good node says; undefined: it has no such method. */
export function answerOf(method: string, params: readonly unknown[]): unknown {
	const [first, options] = params as [string, { readonly tracer?: string } | undefined]
	const number =
		typeof first === 'string' ? (['latest', 'safe', 'finalized'].includes(first) ? headNumber : Number(first)) : 0
	const [block, place] = [Math.floor((number - 0x7a000000) / 16), (number - 0x7a000000) % 16]
	switch (method) {
		case 'eth_chainId':
			return '0x1'
		case 'eth_blockNumber':
			return hex(headNumber)
		case 'web3_clientVersion':
			return 'erigon/3.1.0'
		case 'ots_getApiLevel':
			return 8
		case 'eth_getBlockByNumber':
			return exists(number) || number === 0 ? header(number) : null
		case 'eth_getTransactionReceipt':
			return receipt(block, place)
		case 'eth_getTransactionByHash':
			return { hash: first, from: addressOf(10), to: addressOf(20), gas: '0x1', value: '0x5' }
		case 'trace_block':
			return exists(number) ? places.flatMap((at) => rows(number, at)) : []
		case 'trace_transaction':
			return rows(block, place)
		case 'trace_filter': {
			const { fromBlock, toBlock, fromAddress, toAddress } = params[0] as Filter
			const all: Row[] = []
			for (let n = Number(fromBlock); n <= Math.min(Number(toBlock), headNumber); n += 1) {
				if (exists(n)) all.push(...places.flatMap((at) => rows(n, at)))
			}
			const isFrom = (row: Row) => fromAddress?.includes(row.action.from)
			const isTo = (row: Row) => toAddress?.includes(row.action.to ?? row.result.address ?? '')
			return all.filter((row) => (fromAddress === undefined && toAddress === undefined) || isFrom(row) || isTo(row))
		}
		case 'debug_traceBlockByNumber':
			if (options?.tracer !== 'callTracer') return undefined
			return places.map((at) => ({ txHash: txHash(number, at), result: tree(number, at) }))
		case 'debug_traceTransaction':
			return tree(block, place)
		case 'ots_getContractCreator':
			return { hash: txHash(39, 0), creator: addressOf(20) }
		case 'ots_getTransactionError':
			return '0x'
		case 'eth_getBlockReceipts':
			return exists(number) ? places.map((at) => receipt(number, at)) : null
		case 'eth_getLogs':
			return logsBy(params[0] as LogFilter)
		case 'eth_getBalance':
			return hex(balanceBy(first, params[1]))
		case 'eth_call':
			return balancesBy((params[0] as { data: string }).data, params[1])
		case 'eth_getBlockAccessList':
			return /^0x/.test(first) ? accessListOf(numberOf(first)) : null
		default:
			return undefined
	}
}
