// The daemon is started beside a stranger's blocks that no node can bear, on a chain that stands still: what an
// endpoint can do is tried on the newest blocks. What good blocks hold is told soon, wherever they stand.
import { expect, test } from 'vitest'
import { smallFigures, soonLeftOut } from '../support/preload.js'
import { siteWithFailing, stranger, told, treasury } from './site.js'

const ways = {
	'refuses them': { hangs: false, lacks: [] },
	'never answers them, with a tracer only': {
		hangs: true,
		lacks: ['trace_block', 'trace_filter', 'trace_transaction'],
	},
}

/** Three payments and a hostile block in each: hostile ones stand at each fourth height, the newest is one. */
const rounds = 3

/** Where nobody answers, a walk waits 1 s in place of some 4, a try of a block 2 s in place of 30, or 1 s of 3. */
const figures = {
	'refuses them': `${soonLeftOut},slowWalkMs=4000`,
	'never answers them, with a tracer only': [
		`${soonLeftOut},longMs=1500,slowWalkMs=2000,togetherMs=500`,
		'walkWait.oneMs=1000,walkWait.firstMs=1000,walkWait.severalMs=1000',
		'waitMs.normal=2000,waitMs.short=1000,comingMs=1000',
	].join(),
}

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
		const running = here.start(['run'], smallFigures(figures[name]))
		/** What has come, in the order in which it first came. */
		const came = () => [
			...new Set(told(hook.hits).map(({ type, data }) => `${type} ${data.valueWei ?? data.fromBlock}`)),
		]
		const transfers = paid.map((wei) => `alert.transfer ${wei}`)
		const gaps = hostile.map((block) => `system.gap ${block}`)
		// The newest is waited for until another comes.
		const early = [...transfers, ...gaps.slice(0, -1)]
		await hook.until(() => early.every((one) => came().includes(one)))
		expect(came().toSorted()).toEqual(early.toSorted())
		for (const rank of [transfers, gaps.slice(0, -1)]) expect(came().filter((one) => rank.includes(one))).toEqual(rank)
		// A gap is urgent: it stands before what comes after its block, and may overtake what waits from before.
		for (const [round, gap] of gaps.slice(0, -1).entries())
			expect(came().indexOf(gap)).toBeLessThan(came().indexOf(transfers[3 * round + 3] ?? ''))
		await pay(99n)
		await hook.until(() => came().includes('alert.transfer 99'))
		expect(came().slice(early.length)).toEqual([gaps.at(-1), 'alert.transfer 99'])
		expect((await running.stop()).code).toBe(0)
	},
	300_000,
)
