// What a strange node tells of the frames of a made-up block: rows as the trace methods tell them, or the calls of
// callTracer.
import { toChecksum } from '../../src/config/address.js'
import type { Address } from '../../src/model/glossary.js'
import { hex } from './anvil.js'
import { listed, type StrangeBlock, type StrangeFrame, type StrangeTx } from './strangeChain.js'
import type { StrangeManners } from './strangeManners.js'

export function strangeTraces(manners: StrangeManners) {
	const address = (one: Address) => (manners.addresses === 'lower' ? one : toChecksum(one))
	const number = (one: bigint | number) =>
		manners.numbers === 'number' ? Number(one) : manners.numbers === 'hex' ? hex(BigInt(one)) : String(one)

	function rowsOf(block: StrangeBlock, tx: StrangeTx, at: number): object[] {
		const rows: object[] = []
		const visit = (one: StrangeFrame, traceAddress: readonly number[]) => {
			const [from, to, value] = [address(one.from), address(one.to), hex(one.wei)]
			const made =
				one.type === 'create' ? { address: to, code: '0x', gasUsed: '0x1' } : { gasUsed: '0x1', output: '0x' }
			const keeps = one.error === null || (manners.failed === 'kept' && one.error === 'Reverted')
			const gas = { gas: '0x1', ...(one.type === 'create' ? { init: '0x' } : { input: '0x' }) }
			const create = { from, value, creationMethod: one.isCreate2 ? 'create2' : 'create', ...gas }
			const action = one.type === 'create' ? create : { callType: one.callType, from, to, value, ...gas }
			rows.push({
				...(one.type === 'suicide'
					? { action: { address: from, refundAddress: to, balance: value }, result: null }
					: { action, ...(keeps ? { result: made } : manners.failed === 'absent' ? {} : { result: null }) }),
				...(one.error !== null && { error: one.error }),
				...(manners.subtraces && { subtraces: listed(one).length }),
				...{ type: one.type, traceAddress, transactionHash: tx.hash, transactionPosition: number(at) },
				...{ blockHash: block.hash, blockNumber: number(block.number) },
			})
			for (const [index, child] of listed(one).entries()) visit(child, [...traceAddress, index])
		}
		visit(tx.root, [])
		return rows
	}

	function allRows(block: StrangeBlock): object[] {
		const rows = block.txs.flatMap((tx, at) => rowsOf(block, tx, at))
		if (manners.rewards === 'none' || block.number === 0n) return rows
		const value = manners.rewards === 'zero' ? '0x0' : '0x1bc16d674ec80000'
		const place = { traceAddress: [], blockHash: block.hash, blockNumber: number(block.number) }
		const action = { author: address(block.miner), rewardType: 'block', value }
		return [...rows, { action, result: null, subtraces: 0, type: 'reward', ...place }]
	}

	function callOf(one: StrangeFrame): object {
		const create = one.isCreate2 ? 'CREATE2' : 'CREATE'
		const type = one.type === 'call' ? one.callType?.toUpperCase() : one.type === 'create' ? create : 'SELFDESTRUCT'
		return {
			...{ type, from: address(one.from), gas: '0x1', gasUsed: '0x1', input: '0x' },
			...((one.type !== 'create' || one.error === null) && { to: address(one.to) }),
			...(one.callType !== 'staticcall' && { value: hex(one.wei) }),
			...(one.error !== null && { error: one.error }),
			...(one.children.length > 0 && { calls: one.children.map(callOf) }),
		}
	}

	return { address, rowsOf, allRows, callOf }
}
