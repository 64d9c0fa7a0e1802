import { signalWithin } from '../../base/waits/deadline.js'
import { RpcError } from '../../errors.js'
import type { Rpc, RpcCall } from './rpc.js'

/** Calls in one batch, and of those for which a node runs transactions again. */
const MOST_CALLS = 50
const MOST_TRACES = 4
/** For several traces together. */
const TRACES_MS = 4_000

interface Waiting {
	readonly calls: readonly RpcCall[]
	readonly signal: AbortSignal
	resolve(answers: readonly unknown[]): void
	reject(error: unknown): void
}

const wrapped = new WeakMap<Rpc, Rpc>()

/** Batches of one method in one turn leave as one request; one that fails or traces slowly is made for each caller. */
export function gathered(rpc: Rpc): Rpc {
	const known = wrapped.get(rpc)
	if (known !== undefined) return known
	const waiting = new Map<string, Waiting[]>()
	const own: Rpc = {
		...rpc,
		batch: (calls, signal) =>
			new Promise((resolve, reject) => {
				const method = calls[0]?.method ?? ''
				const group = waiting.get(method)
				if (group !== undefined) return void group.push({ calls, signal, resolve, reject })
				const begun = [{ calls, signal, resolve, reject }]
				waiting.set(method, begun)
				setImmediate(() => {
					waiting.delete(method)
					for (const some of inRequests(begun, isTraced(calls[0]) ? MOST_TRACES : MOST_CALLS)) void send(rpc, some)
				})
			}),
	}
	wrapped.set(rpc, own)
	return own
}

function isTraced(call: RpcCall | undefined): boolean {
	return /^(?:trace|debug)_/.test(call?.method ?? '')
}

function* inRequests(all: readonly Waiting[], most: number): Iterable<readonly Waiting[]> {
	let some: Waiting[] = []
	let count = 0
	for (const one of all) {
		if (some.length > 0 && count + one.calls.length > most) {
			yield some
			some = []
			count = 0
		}
		some.push(one)
		count += one.calls.length
	}
	yield some
}

async function send(rpc: Rpc, some: readonly Waiting[]): Promise<void> {
	const [first] = some
	if (first !== undefined && some.length > 1) {
		try {
			const calls = some.flatMap((one) => one.calls)
			const until = isTraced(calls[0]) ? signalWithin(TRACES_MS, first.signal) : first.signal
			const answers = (await rpc.batch(calls, until)).values()
			for (const { calls: own, resolve } of some) resolve(own.map(() => answers.next().value))
			return
		} catch (error) {
			const isOfAll = error instanceof RpcError && ['rate', 'quota', 'auth', 'network'].includes(error.kind)
			if (isOfAll) {
				for (const { reject } of some) reject(error)
				return
			}
		}
	}
	for (const { calls, signal, resolve, reject } of some) rpc.batch(calls, signal).then(resolve, reject)
}
