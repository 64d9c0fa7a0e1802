// How long it takes to read a range, beside the same requests sent bare, and beside the naive script.
import type { Span } from '../src/model/chain.js'
import { replay } from './floor.js'
import { cost, sideBySide } from './measure.js'
import { naive } from './naive.js'
import { openWalker } from './ours.js'
import { type Exchange, startProxy } from './proxy.js'
import { watchedUpTo } from './seed.js'

export interface CatchUp {
	readonly addresses: number
	readonly blocks: number
	readonly alerts: number
	readonly requests: number
	readonly answerBytes: number
	readonly oursMs: number
	/** The same requests one after the other, and four at a time. */
	readonly floorMs: number
	readonly floorInFourMs: number
	readonly naiveMs: number | null
}

export interface CatchUpOptions {
	readonly url: string
	readonly span: Span
	readonly addresses: number
	readonly times: number
	readonly withNaive: boolean
}

export async function measureCatchUp({ url, span, addresses, times, withNaive }: CatchUpOptions): Promise<CatchUp> {
	const list = watchedUpTo(addresses)
	const { exchanges, alerts } = await record(url, span, addresses)
	const costs = await withFreshWalkers(url, addresses, times, span, exchanges)
	const naively = withNaive ? await cost(() => naive(url, list, span.from, span.to)) : null
	return {
		addresses,
		blocks: Number(span.to - span.from) + 1,
		alerts,
		requests: exchanges.length,
		answerBytes: exchanges.reduce((sum, { answer }) => sum + answer.length, 0),
		oursMs: costs.ours.wallMs,
		floorMs: costs.floor.wallMs,
		floorInFourMs: costs.floorInFour.wallMs,
		naiveMs: naively?.wallMs ?? null,
	}
}

/** What the walk asks for, without what it asks for once to get to know the endpoint. */
async function record(url: string, span: Span, addresses: number) {
	const proxy = await startProxy(url)
	const walker = await openWalker(proxy.url, watchedUpTo(addresses))
	proxy.take()
	const alerts = await walker.walk(span)
	const exchanges = proxy.take()
	await walker.close()
	await proxy.close()
	return { exchanges, alerts }
}

/** Each walk begins with what a fresh one knows of the endpoint's limits, as the recorded one did. */
async function withFreshWalkers(
	url: string,
	addresses: number,
	times: number,
	span: Span,
	exchanges: readonly Exchange[],
) {
	const list = watchedUpTo(addresses)
	const walkers = await Promise.all(Array.from({ length: times }, () => openWalker(url, list)))
	const fresh = walkers.values()
	const costs = await sideBySide(times, {
		floor: () => replay(url, exchanges, 1),
		floorInFour: () => replay(url, exchanges, 4),
		ours: () => fresh.next().value?.walk(span),
	})
	await Promise.all(walkers.map((walker) => walker.close()))
	return costs
}
