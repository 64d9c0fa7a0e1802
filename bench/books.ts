// What keeping books costs a poll of one new block with one payment: a poller that keeps them beside one that does not.
import type { TestAnvil } from '../test/support/anvil.js'
import { cost, quantile } from './measure.js'
import { openPoller } from './ours.js'
import { startProxy } from './proxy.js'
import { mined, watched, watchedUpTo } from './seed.js'

export interface BooksCost {
	readonly addresses: number
	/** Polls until each watch had a book. */
	readonly pollsToOpen: number
	/** More than without books, of each poll: calls, bytes asked and answered, bytes written; the middle of all. */
	readonly calls: number
	readonly bytes: number
	readonly bytesWritten: number
	/** Time and processor of a poll, with books and without; the middle of all. */
	readonly ms: number
	readonly msWithout: number
	readonly cpuMs: number
	readonly cpuMsWithout: number
}

const polls = 12

export async function measureBooks(anvil: TestAnvil, addresses: number): Promise<BooksCost> {
	const [sender] = await anvil.accounts()
	if (sender === undefined) throw new Error('the node has no accounts')
	const sides = await Promise.all(
		[true, false].map(async (books) => {
			const proxy = await startProxy(anvil.url)
			const poller = await openPoller(proxy.url, watchedUpTo(addresses), { books })
			return { proxy, poller, seen: [] as { calls: number; bytes: number; written: number; ms: number; cpu: number }[] }
		}),
	)
	const [kept] = sides
	const pay = async () => mined(anvil, await anvil.send({ from: sender, to: watched(0), valueWei: 1n }))
	let pollsToOpen = 0
	while (((await kept?.poller.booksOpened()) ?? addresses) < addresses || pollsToOpen < 2) {
		await pay()
		for (const { poller } of sides) await poller.poll()
		pollsToOpen++
	}
	for (let poll = 0; poll < polls; poll++) {
		await pay()
		for (const { proxy, poller, seen } of sides) {
			proxy.take()
			let written = 0
			const { wallMs, cpuMs } = await cost(async () => {
				written = (await poller.poll()).bytesWritten
			})
			const exchanges = proxy.take()
			seen.push({
				calls: exchanges.reduce((sum, { methods }) => sum + methods.length, 0),
				bytes: exchanges.reduce((sum, { request, answer }) => sum + request.length + answer.length, 0),
				written,
				ms: wallMs,
				cpu: cpuMs,
			})
		}
	}
	for (const { proxy, poller } of sides) {
		await poller.close()
		await proxy.close()
	}
	const middle = (side: number, of: keyof (typeof sides)[number]['seen'][number]) =>
		quantile(
			(sides[side]?.seen ?? []).map((one) => one[of]),
			0.5,
		)
	return {
		addresses,
		pollsToOpen,
		calls: middle(0, 'calls') - middle(1, 'calls'),
		bytes: middle(0, 'bytes') - middle(1, 'bytes'),
		bytesWritten: middle(0, 'written') - middle(1, 'written'),
		ms: middle(0, 'ms'),
		msWithout: middle(1, 'ms'),
		cpuMs: middle(0, 'cpu'),
		cpuMsWithout: middle(1, 'cpu'),
	}
}
