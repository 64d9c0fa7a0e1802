// What catching up costs in calls and in credits, beside the naive script.
import { providerOf } from '../src/core/cost/prices.js'
import type { Span } from '../src/model/chain.js'
import { naive } from './naive.js'
import { openWalker } from './ours.js'
import { startProxy } from './proxy.js'
import { watchedUpTo } from './seed.js'

export interface Calls {
	readonly calls: number
	readonly byMethod: Readonly<Record<string, number>>
	/** At the prices of each provider. */
	readonly credits: Readonly<Record<string, number>>
}

export interface CallCost {
	readonly blocks: number
	readonly addresses: number
	readonly alerts: number
	readonly ours: Calls
	readonly naive: Calls
}

const hosts = ['mainnet.infura.io', 'eth-mainnet.g.alchemy.com', 'a.quiknode.pro']

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
	const total = (price: (method: string) => number) =>
		Object.entries(byMethod).reduce((sum, [method, count]) => sum + count * price(method), 0)
	const credits = hosts.flatMap((host) => {
		const provider = providerOf(host)
		return provider === null ? [] : [[provider.name, total(provider.creditsOf)] as const]
	})
	return { calls: total(() => 1), byMethod, credits: Object.fromEntries(credits) }
}
