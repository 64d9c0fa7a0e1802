/** A chain of a few blocks that exists only as answers: enough for every question that the program asks a node. */

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
			return { blockNumber: hex(block), blockHash: blockHash(block), transactionHash: first, status: '0x1', logs: [] }
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
		default:
			return undefined
	}
}
