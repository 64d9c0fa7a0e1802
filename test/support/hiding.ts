/**
 * Makes a node hide what moves inside of transactions, in every trace method alike, and keeps account of what it hid.
 */
import type { Address, Hash } from '../../src/model/glossary.js'
import type { Dialect } from './dialectGateway.js'
import type { ScenarioTx } from './scenario.js'

interface RawRow {
	readonly type: string
	readonly action: Readonly<Record<string, string>>
	readonly error?: string
	readonly blockNumber: number
	readonly subtraces: number
	readonly transactionHash: Hash
	readonly transactionPosition: number
	readonly traceAddress: readonly number[]
}

export interface Hidden {
	readonly txHash: Hash
	readonly block: number
	readonly from: Address
	readonly to: Address
	readonly wei: bigint
}

/** A payment inside a transaction, below which nothing is: told as one of nothing. */
export function hideLeaves(isChosen: (txHash: Hash) => boolean): {
	readonly dialect: Dialect
	hidden(): readonly Hidden[]
} {
	const hidden = new Map<string, Hidden>()
	const conceal = (row: RawRow): RawRow => {
		const { action, traceAddress, transactionHash: txHash } = row
		const isLeaf = row.type === 'call' && action.callType === 'call' && row.subtraces === 0 && traceAddress.length > 0
		if (!isLeaf || row.error !== undefined || BigInt(action.value ?? 0) === 0n || !isChosen(txHash)) return row
		hidden.set(`${txHash} ${traceAddress.join('_')}`, {
			txHash,
			block: row.blockNumber,
			from: action.from as Address,
			to: action.to as Address,
			wei: BigInt(action.value ?? 0),
		})
		return { ...row, action: { ...action, value: '0x0' } }
	}
	return {
		hidden: () => [...hidden.values()],
		dialect: {
			lacks: ['debug_traceBlockByNumber', 'debug_traceTransaction'],
			twist(method, _params, result) {
				if (!['trace_block', 'trace_filter', 'trace_transaction'].includes(method)) return undefined
				return (result as RawRow[]).map(conceal)
			},
		},
	}
}

/**
 * What of it the plan says really moved, by watched address and block: `address block wei` each, signed, never 0.
 */
export function dueOfHidden(
	hidden: readonly Hidden[],
	transactions: readonly ScenarioTx[],
	watched: readonly Address[],
): readonly string[] {
	const moved = new Map<string, bigint>()
	const add = (address: Address, block: number, wei: bigint) => {
		const key = `${address} ${block}`
		if (watched.includes(address)) moved.set(key, (moved.get(key) ?? 0n) + wei)
	}
	for (const { txHash, block, from, to, wei } of hidden) {
		const consequence = transactions.find(({ hash }) => hash === txHash)?.consequence
		const isReal = consequence?.movements.some((one) => one.from === from && one.to === to && one.valueWei === wei)
		if (isReal !== true) continue
		add(from, block, -wei)
		add(to, block, wei)
	}
	return [...moved].filter(([, wei]) => wei !== 0n).map(([key, wei]) => `${key} ${wei}`)
}

/** Leaves whole transactions out of blocks, traces and receipts. */
export function hideTransactions(): { readonly dialect: Dialect; hide(txHash: Hash): void; show(txHash: Hash): void } {
	const gone = new Set<unknown>()
	const isGone = (entry: unknown) => {
		const { hash, transactionHash } = entry as { hash?: unknown; transactionHash?: unknown }
		return gone.has(typeof entry === 'string' ? entry : (hash ?? transactionHash))
	}
	return {
		hide: (txHash) => void gone.add(txHash),
		show: (txHash) => void gone.delete(txHash),
		dialect: {
			lacks: ['debug_traceBlockByNumber', 'debug_traceTransaction'],
			twist(method, params, result) {
				if (method === 'eth_getBlockByNumber' && result !== null) {
					const block = result as { transactions: unknown[] }
					return { ...block, transactions: block.transactions.filter((entry) => !isGone(entry)) }
				}
				if (Array.isArray(result) && method.startsWith('trace_')) return result.filter((row) => !isGone(row))
				if (Array.isArray(result) && method === 'eth_getBlockReceipts') return result.filter((one) => !isGone(one))
				return method === 'eth_getTransactionReceipt' && gone.has(params[0]) ? null : undefined
			},
		},
	}
}
