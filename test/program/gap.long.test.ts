// A block that no endpoint gives, over kills: told once, passed once, and what it held is told once when it was read.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createChance } from '../support/chance.js'
import { siteWithFailing, told } from './site.js'

test('behavior: a gap is reported once, and closed once, at whatever moment the program is killed', async () => {
	const { node, failing, hook, here, pay, hide } = await siteWithFailing()
	const hidden = await pay(1n)
	hide(hidden)
	const blockNumber = Number(hidden.blockNumber)
	await pay(2n)
	await node.mine(2)

	const bodies = () => told(hook.hits)
	const heard = (type: string) =>
		new Set(bodies().flatMap((each) => (each.type === type ? [each.data.deliveryId] : [])))
	const chance = createChance(7)
	const liveUntil = async (isDone: () => boolean, lives: number) => {
		for (let life = 0; life < lives; life++) {
			const running = here.start(['run'])
			// Ever longer, so that a slow machine gets somewhere too.
			await sleep((1_200 + chance.number(4_000)) * (1 + life / 20))
			running.process.kill('SIGKILL')
			await running.ended
			if (isDone()) return
		}
	}
	await liveUntil(() => heard('alert.transfer').size > 0, 60)
	await liveUntil(() => false, 4)
	expect([heard('system.gap').size, heard('alert.transfer').size]).toEqual([1, 1])
	const status = JSON.parse((await here.run(['status', '--json'])).stdout)
	expect(status.networks[0].gaps).toMatchObject([{ fromBlock: blockNumber, toBlock: blockNumber }])

	failing.numbers.clear()
	failing.hashes.clear()
	await liveUntil(() => heard('system.recovered').size > 0, 20)
	await liveUntil(() => false, 3)
	const running = here.start(['run'])
	await hook.until(() => heard('system.recovered').size > 0)
	// And that was all there was to tell.
	await running.line(({ msg }) => msg === 'polling goes well: scanned up to the target')
	expect((await running.stop()).code).toBe(0)
	expect((await here.run(['once'])).code).toBe(0)
	const distinct = [...new Map(bodies().map((each) => [each.data.deliveryId, each])).values()]
	expect(distinct.map(({ type, data }) => [type, data.valueWei ?? data.fromBlock, data.late ?? null])).toEqual([
		['system.gap', blockNumber, null],
		['alert.transfer', '2', expect.any(Boolean)],
		['alert.transfer', '1', true],
		['system.recovered', blockNumber, null],
	])
}, 900_000)
