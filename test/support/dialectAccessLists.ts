/** Block access lists (EIP-7928) for an Anvil that has none: what its tracer says each transaction left behind. */

import { keccak256 } from 'ox/Hash'
import { fromHex } from 'ox/Rlp'

type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>
type Hex = `0x${string}`

interface Left {
	readonly balance?: string
	readonly nonce?: number
	readonly code?: string
}

interface Diff {
	readonly result: { readonly pre: Record<string, Left>; readonly post: Record<string, Left> }
}

/** By hash of the block: lists are made once. */
const made = new Map<unknown, Promise<{ list: object[]; hash: Hex }>>()

export function accessListOf(blockHash: unknown, ask: Ask): Promise<{ list: object[]; hash: Hex }> {
	const known = made.get(blockHash)
	if (known !== undefined) return known
	const making = make(blockHash, ask)
	made.set(blockHash, making)
	return making
}

async function make(blockHash: unknown, ask: Ask): Promise<{ list: object[]; hash: Hex }> {
	const { number, transactions } = (await ask('eth_getBlockByHash', [blockHash, false])) as {
		number: string
		transactions: unknown[]
	}
	const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
	const diffs = transactions.length === 0 ? [] : ((await ask('debug_traceBlockByNumber', [number, options])) as Diff[])
	const accounts = new Map<string, Record<'balance' | 'nonce' | 'code', { index: Hex; value: Hex }[]>>()
	for (const [at, { result }] of diffs.entries()) {
		const index: Hex = `0x${(at + 1).toString(16)}`
		for (const address of new Set([...Object.keys(result.pre), ...Object.keys(result.post)])) {
			const [pre = {}, post] = [result.pre[address], result.post[address]]
			const account = accounts.get(address) ?? { balance: [], nonce: [], code: [] }
			accounts.set(address, account)
			// One that is gone afterwards leaves nothing.
			const left = post ?? { balance: '0x0' }
			for (const field of ['balance', 'nonce', 'code'] as const) {
				if (left[field] === undefined || left[field] === pre[field]) continue
				const value = field === 'code' ? (left.code as Hex) : (`0x${BigInt(left[field] ?? 0).toString(16)}` as Hex)
				account[field].push({ index, value })
			}
		}
	}
	const sorted = [...accounts].sort(([a], [b]) => (a < b ? -1 : 1))
	const short = (value: Hex): Hex => (BigInt(value) === 0n ? '0x' : `0x${even(BigInt(value).toString(16))}`)
	const pairs = (list: readonly { index: Hex; value: Hex }[]) => list.map((one) => [short(one.index), short(one.value)])
	const rlp = sorted.map(([address, { balance, nonce, code }]) => [
		address as Hex,
		[],
		[],
		pairs(balance),
		pairs(nonce),
		code.map((one) => [short(one.index), one.value]),
	])
	const list = sorted.map(([address, { balance, nonce, code }]) => ({
		address,
		storageChanges: [],
		storageReads: [],
		balanceChanges: balance,
		nonceChanges: nonce,
		codeChanges: code.map(({ index, value }) => ({ index, code: value })),
	}))
	return { list, hash: keccak256(fromHex(rlp as never, { as: 'Hex' })) }
}

function even(digits: string): string {
	return digits.length % 2 === 0 ? digits : `0${digits}`
}
