// What decoding and matching cost above JSON.parse, without a network between: answers come from memory, as text.
import { setImmediate } from 'node:timers/promises'
import { createChain } from '../src/chain/chain.js'
import { createRpc, type Rpc, type RpcCall } from '../src/chain/rpc/rpc.js'
import type { Span } from '../src/model/chain.js'
import { sideBySide } from './measure.js'
import { matchAll, quiet, watchIndex } from './ours.js'
import { watchedUpTo } from './seed.js'

export interface Decoding {
	readonly blocks: number
	readonly bytes: number
	readonly parseCpuMs: number
	/** JSON.parse of the same texts among it. */
	readonly oursCpuMs: number
}

const never = new AbortController().signal

export async function measureDecoding(url: string, span: Span, addresses: number, times: number): Promise<Decoding> {
	const real = createRpc({ url })
	const memory = createMemory(real)
	const index = watchIndex(watchedUpTo(addresses))
	const walk = async () => {
		const { rpc } = memory
		const chain = createChain({
			endpoints: { use: (job, signal) => job(rpc, signal), close: async () => {} },
			log: quiet,
		})
		await chain.head(never)
		await matchAll(chain, { from: span.from, to: span.from }, index)
		memory.begin()
		await matchAll(chain, span, index)
	}
	// Twice: what is asked may depend on how fast the answers came.
	await walk()
	await walk()
	const texts = memory.used()
	const costs = await sideBySide(times, {
		parse: () => {
			for (const text of texts) JSON.parse(text)
		},
		ours: walk,
	})
	await real.close()
	return {
		blocks: Number(span.to - span.from) + 1,
		bytes: texts.reduce((sum, text) => sum + text.length, 0),
		parseCpuMs: costs.parse.cpuMs,
		oursCpuMs: costs.ours.cpuMs,
	}
}

/** Asks the node once for each question, and answers from memory from then on. */
function createMemory(real: Rpc): { readonly rpc: Rpc; begin(): void; used(): readonly string[] } {
	const known = new Map<string, unknown>()
	let texts: string[] = []
	const answer = (key: string): unknown => {
		const found = known.get(key)
		if (typeof found !== 'string') return found
		texts.push(found)
		return JSON.parse(found)
	}
	const batch = async (calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> => {
		const keys = calls.map((call) => JSON.stringify(call))
		if (!keys.every((key) => known.has(key))) {
			const said = await real.batch(calls, signal)
			for (const [at, key] of keys.entries()) {
				const one = said[at]
				known.set(key, one instanceof Error ? one : JSON.stringify(one))
			}
		}
		// As from a network: what was read before is done with before the next answer is parsed.
		await setImmediate()
		return keys.map(answer)
	}
	const rpc: Rpc = {
		...real,
		batch,
		async call(method, params, signal) {
			const [one] = await batch([{ method, params }], signal)
			if (one instanceof Error) throw one
			return one
		},
	}
	return {
		rpc,
		begin() {
			texts = []
		},
		used: () => texts,
	}
}
