// The daemon is started beside a stranger's blocks that no node can bear, on a chain that stands still: what an
// endpoint can do is tried on the newest blocks. What good blocks hold is told soon, wherever they stand.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { siteWithFailing, stranger, told, treasury } from './site.js'

const ways = {
	'refuses them': { hangs: false, lacks: [] },
	'refuses them, with a tracer only': { hangs: false, lacks: ['trace_block', 'trace_filter', 'trace_transaction'] },
	'never answers them': { hangs: true, lacks: [] },
	'never answers them, with a tracer only': {
		hangs: true,
		lacks: ['trace_block', 'trace_filter', 'trace_transaction'],
	},
}

/** Three payments and a hostile block in each: hostile ones stand at each fourth height, the newest is one. */
const rounds = 6

test.each(Object.keys(ways) as (keyof typeof ways)[])(
	'behavior: a node that %s',
	async (name) => {
		const { hangs, lacks } = ways[name]
		const { node, hook, here, pay, hide } = await siteWithFailing({ hangs, lacks })
		const beHostile = async () => {
			const tx = { from: stranger, to: treasury, valueWei: 1n }
			const mined = await node.receipt(await node.send(tx))
			hide(mined)
			return Number(mined.blockNumber)
		}
		const paid: string[] = []
		const hostile: number[] = []
		for (let round = 1; round <= rounds; round++) {
			for (let place = 0; place < 3; place++) {
				paid.push(String(round * 10 + place))
				await pay(BigInt(round * 10 + place))
			}
			hostile.push(await beHostile())
		}
		const startedAtMs = Date.now()
		const running = here.start(['run'])
		const seen: { type: string; what: string; atMs: number }[] = []
		/** Resolves when so many were sent, or it throws what came until then. */
		const until = async (count: number, mostMs: number) => {
			for (const endsAtMs = Date.now() + mostMs; seen.length < count; await sleep(50)) {
				for (const { type, data } of told(hook.hits).slice(seen.length))
					seen.push({ type, what: String(data.valueWei ?? data.fromBlock), atMs: Date.now() - startedAtMs })
				if (Date.now() > endsAtMs) throw new Error(`after ${mostMs} ms: ${JSON.stringify(seen)}`)
			}
		}
		// At rest 2 to 8 s, then 12 to 50 s for the first, and 1 to 8 s for each that comes after it; a slow machine may
		// take three times as much, and one that stands still a minute.
		await until(3, 60_000)
		await until(4, 180_000)
		await until(paid.length + hostile.length - 1, 60_000 * (rounds - 2))
		const expected = hostile.flatMap((block, at) => [
			...paid.slice(at * 3, at * 3 + 3).map((wei) => ['alert.transfer', wei]),
			['system.gap', String(block)],
		])
		// The newest is waited for until another comes.
		expect(seen.map(({ type, what }) => [type, what])).toEqual(expected.slice(0, -1))
		await pay(99n)
		await until(seen.length + 2, 60_000)
		expect(seen.slice(-2).map(({ type, what }) => [type, what])).toEqual([
			...expected.slice(-1),
			['alert.transfer', '99'],
		])
		const at = (index: number) => Math.round((seen[index]?.atMs ?? 0) / 100) / 10
		console.log(
			`a node that ${name}: told after ${at(2)} s, first gap after ${at(3)} s, all after ${at(expected.length - 2)} s`,
		)
		expect((await running.stop()).code).toBe(0)
	},
	900_000,
)
