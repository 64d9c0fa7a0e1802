// Small makers of model values for the tests of the core; each test names only what it is about.
import { createHash } from 'node:crypto'
import type { Alert } from '../../src/model/alert.js'
import type { Block, BlockRef, Frame, TxTrace } from '../../src/model/chain.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import type { Network, Watch, WatchIndex } from '../../src/model/watch.js'

export const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
export const hash = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}`
export const blockRef = (number: number, fork = 0): BlockRef => ({
	number: BigInt(number),
	hash: hash(number * 1000 + fork),
})

export const network: Network = {
	name: 'testnet',
	chainId: 31337,
	confirmations: 0,
	settle: 'finalized',
	symbol: 'ETH',
	decimals: 18,
	explorer: null,
}

export function frame(part: Partial<Frame>): Frame {
	return {
		type: 'call',
		callType: part.type === undefined || part.type === 'call' ? 'call' : null,
		from: address(1),
		to: address(2),
		valueWei: 1n,
		traceAddress: [],
		error: null,
		rewardType: null,
		...part,
	}
}

export function tx(frames: readonly Frame[], part: Partial<TxTrace> = {}): TxTrace {
	return { txHash: hash(0xabc), txIndex: 0, block: blockRef(10), succeeded: true, frames, ...part }
}

export function watch(part: Partial<Watch> = {}): Watch {
	return {
		network: network.name,
		address: address(1),
		label: null,
		tags: [],
		kinds: ['transfer', 'deployment'],
		direction: 'both',
		minValueWei: 1n,
		receivers: ['mail'],
		fromBlock: null,
		watchlist: 'a.yaml',
		...part,
	}
}

export function indexOf(...watches: readonly Watch[]): WatchIndex {
	const index = new Map<Address, Watch[]>()
	for (const one of watches) index.set(one.address, [...(index.get(one.address) ?? []), one])
	return index
}

export function header(number: number, timestampS = 1_700_000_000): Block {
	return { ...blockRef(number), parentHash: blockRef(number - 1).hash, timestampS: BigInt(timestampS), txHashes: [] }
}

export function alert(id: string, part: Partial<Alert['data']> = {}, receivers: readonly string[] = ['mail']): Alert {
	return {
		type: 'alert.transfer',
		receivers,
		data: {
			id,
			network: network.name,
			chainId: network.chainId,
			blockNumber: 10,
			blockHash: hash(10_000),
			blockTimestamp: '2026-01-01T00:00:00.000Z',
			txHash: hash(0xabc),
			txIndex: 0,
			traceAddress: [],
			kind: 'transfer',
			frameType: 'call',
			category: 'external',
			from: address(1),
			to: address(2),
			valueWei: '1',
			value: '0.000000000000000001',
			asset: 'ETH',
			watch: { address: address(1), label: null, tags: [], watchlist: 'a.yaml' },
			direction: 'out',
			finality: 'latest',
			detectedAt: '2026-01-01T00:00:01.000Z',
			lagSeconds: 1,
			late: false,
			...part,
		},
	}
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
