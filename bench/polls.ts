// What one poll of one new block asks and writes, by the number of watches.
import type { TestAnvil } from '../test/support/anvil.js'
import { openPoller } from './ours.js'
import { startProxy } from './proxy.js'
import { mined, watched, watchedUpTo } from './seed.js'

export interface PollCost {
	readonly addresses: number
	/** Of each poll on average: HTTP requests, those among them that ask for traces, and calls in all of them. */
	readonly requests: number
	readonly traceRequests: number
	readonly calls: number
	readonly requestBytes: number
	/** With one alert in each poll. */
	readonly bytesWritten: number
}

const polls = 4

export async function measurePolls(anvil: TestAnvil, addresses: number): Promise<PollCost> {
	const [sender] = await anvil.accounts()
	if (sender === undefined) throw new Error('the node has no accounts')
	const proxy = await startProxy(anvil.url)
	const poller = await openPoller(proxy.url, watchedUpTo(addresses))
	// The first sight of the network and of its watches; the second poll looks a second time at what has settled since.
	const pay = async () => mined(anvil, await anvil.send({ from: sender, to: watched(0), valueWei: 1n }))
	for (let warmUp = 0; warmUp < 2; warmUp += 1) {
		await pay()
		await poller.poll()
	}
	proxy.take()
	let bytesWritten = 0
	for (let poll = 0; poll < polls; poll += 1) {
		await pay()
		const done = await poller.poll()
		if (done.alerts !== 1) throw new Error(`a poll found ${done.alerts} alerts where there was one`)
		bytesWritten += done.bytesWritten
	}
	const exchanges = proxy.take()
	await poller.close()
	await proxy.close()
	const each = (sum: number) => Math.round((sum / polls) * 100) / 100
	const asksTraces = (methods: readonly string[]) => methods.some((method) => /^(trace|debug)_/.test(method))
	return {
		addresses,
		requests: each(exchanges.length),
		traceRequests: each(exchanges.filter(({ methods }) => asksTraces(methods)).length),
		calls: each(exchanges.reduce((sum, { methods }) => sum + methods.length, 0)),
		requestBytes: each(exchanges.reduce((sum, { request }) => sum + request.length, 0)),
		bytesWritten: each(bytesWritten),
	}
}
