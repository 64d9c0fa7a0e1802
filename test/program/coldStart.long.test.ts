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

const mostMs = 800_000

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
		/** Resolves when so many were sent. This test has as long as a slow machine takes, and says what came. */
		const until = async (count: number) => {
			for (; seen.length < count; await sleep(50)) {
				for (const { type, data } of told(hook.hits).slice(seen.length))
					seen.push({ type, what: String(data.valueWei ?? data.fromBlock), atMs: Date.now() - startedAtMs })
				if (Date.now() > startedAtMs + mostMs) throw new Error(`after ${mostMs} ms: ${JSON.stringify(seen)}`)
			}
		}
		// At rest 2 to 8 s for three, then 12 to 50 s for the first gap, and 1 to 8 s for each that comes after it.
		await until(paid.length + hostile.length - 1)
		const of = (type: string) => seen.filter((one) => one.type === type).map(({ what }) => what)
		expect(of('alert.transfer')).toEqual(paid)
		// The newest is waited for until another comes.
		expect(of('system.gap')).toEqual(hostile.slice(0, -1).map(String))
		// A gap is urgent: it stands before what comes after its block, and may overtake what waits from before.
		const place = (what: string) => seen.findIndex((one) => one.what === what)
		for (const [round, block] of hostile.slice(0, -1).entries())
			expect(place(String(block))).toBeLessThan(place(paid[3 * round + 3] ?? ''))
		await pay(99n)
		await until(seen.length + 2)
		expect(seen.slice(-2).map(({ type, what }) => [type, what])).toEqual([
			['system.gap', String(hostile.at(-1))],
			['alert.transfer', '99'],
		])
		const at = (index: number) => Math.round((seen[index]?.atMs ?? 0) / 100) / 10
		console.log(
			`a node that ${name}: told after ${at(2)} s, first gap after ${at(3)} s, all after ${at(seen.length - 3)} s`,
		)
		expect((await running.stop()).code).toBe(0)
	},
	900_000,
)
