// How much of the time a far or a failing endpoint costs is its own, and how much is ours.
import type { Span } from '../src/model/chain.js'
import { replay } from './floor.js'
import { cost } from './measure.js'
import { openWalker } from './ours.js'
import { startProxy, type Way } from './proxy.js'
import { watchedUpTo } from './seed.js'

export interface Distance {
	readonly delayMs: number
	/** Each so many requests one failed; 0: none. */
	readonly failEach: number
	readonly blocks: number
	readonly alerts: number
	readonly oursMs: number
	/** The same requests, eight at a time, whatever depends on what: nobody is faster. */
	readonly floorMs: number
	/** HTTP requests that were answered, and the calls in them. */
	readonly requests: number
	readonly calls: number
}

export interface DistanceOptions extends Way {
	readonly url: string
	readonly span: Span
	readonly addresses: number
}

export async function measureDistance({ url, span, addresses, ...way }: DistanceOptions): Promise<Distance> {
	const proxy = await startProxy(url, way)
	const walker = await openWalker(proxy.url, watchedUpTo(addresses))
	proxy.take()
	let alerts = 0
	const ours = await cost(async () => {
		alerts = await walker.walk(span)
	})
	const exchanges = proxy.take()
	const floor = await cost(() => replay(proxy.url, exchanges, 8))
	await walker.close()
	await proxy.close()
	return {
		delayMs: way.delayMs ?? 0,
		failEach: way.failEach ?? 0,
		blocks: Number(span.to - span.from) + 1,
		alerts,
		oursMs: ours.wallMs,
		floorMs: floor.wallMs,
		requests: exchanges.length,
		calls: exchanges.reduce((sum, { methods }) => sum + methods.length, 0),
	}
}
