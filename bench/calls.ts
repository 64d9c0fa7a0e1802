// What catching up costs in calls, beside the naive script.
import type { Span } from '../src/model/chain.js'
import { naive } from './naive.js'
import { openWalker } from './ours.js'
import { startProxy } from './proxy.js'
import { watchedUpTo } from './seed.js'

export interface Calls {
	readonly calls: number
	readonly byMethod: Readonly<Record<string, number>>
}

export interface CallCost {
	readonly blocks: number
	readonly addresses: number
	readonly alerts: number
	readonly ours: Calls
	readonly naive: Calls
}

export async function measureCalls(url: string, span: Span, addresses: number): Promise<CallCost> {
	const list = watchedUpTo(addresses)
	const proxy = await startProxy(url)
	const walker = await openWalker(proxy.url, list)
	proxy.take()
	const alerts = await walker.walk(span)
	const ours = callsOf(proxy)
	await walker.close()
	await naive(proxy.url, list, span.from, span.to)
	const naively = callsOf(proxy)
	await proxy.close()
	return { blocks: Number(span.to - span.from) + 1, addresses, alerts, ours, naive: naively }
}

function callsOf(proxy: Awaited<ReturnType<typeof startProxy>>): Calls {
	const byMethod: Record<string, number> = {}
	for (const method of proxy.take().flatMap(({ methods }) => methods)) byMethod[method] = (byMethod[method] ?? 0) + 1
	return { calls: Object.values(byMethod).reduce((sum, count) => sum + count, 0), byMethod }
}
