// A block that no endpoint gives, over kills: told once, passed once, and what it held is told once when it was read.
import { expect, test } from 'vitest'
import { typed } from '../support/commandLine.js'
import { preload, smallFigures, soonLeftOut } from '../support/preload.js'
import type { Running } from '../support/program.js'
import { siteWithFailing, told } from './site.js'

const env = smallFigures(soonLeftOut)

test('behavior: a gap is reported and closed once, by a program killed at each commit and message', async () => {
	const { node, failing, hook, here, pay, hide } = await siteWithFailing()
	const hidden = await pay(1n)
	hide(hidden)
	const blockNumber = Number(hidden.blockNumber)
	await pay(2n)
	await node.mine(2)

	const bodies = () => told(hook.hits)
	const heard = (type: string) =>
		new Set(bodies().flatMap((each) => (each.type === type ? [each.data.deliveryId] : []))).size
	const gaps = async () => JSON.parse((await typed(['status', '--json'], { cwd: here.folder })).stdout).networks[0].gaps

	/** Lives that die on disk: at step 1 nothing of the commit that posts this is written, at step 2 it just was. */
	const dieWriting = async (type: string, steps: readonly number[]) => {
		for (const step of steps) {
			const kill = { KILL_FROM: type, KILL_AT: String(step) }
			const life = here.start(['run'], { ...env, ...kill, ...preload('smallFigures', 'killAt') })
			const { code, stdout } = await life.ended
			expect(code, stdout).toBe(null)
			expect(heard(type)).toBe(0)
		}
	}
	/** A life that dies when a message has come and was not answered. */
	const dieSending = async (type: string) => {
		const life: Running = here.start(['run'], env)
		hook.answer = ({ body }) => {
			if (JSON.parse(body.toString()).type === type) life.process.kill('SIGKILL')
			return 204
		}
		const { code, stdout } = await life.ended
		expect(code, stdout).toBe(null)
		hook.answer = () => 204
	}
	/** A life that is killed once all is done. */
	const live = async (isDone: () => boolean) => {
		const life = here.start(['run'], env)
		await hook.until(isDone)
		await life.line(({ msg }) => msg === 'polling goes well: scanned up to the target')
		await life.stop('SIGKILL')
	}

	await dieWriting('system.gap', [1])
	expect(await gaps()).toEqual([])
	await dieWriting('system.gap', [2])
	await dieSending('system.gap')
	await dieSending('alert.transfer')
	await live(() => heard('system.gap') > 0 && heard('alert.transfer') > 0)
	expect([heard('system.gap'), heard('alert.transfer')]).toEqual([1, 1])
	expect(await gaps()).toMatchObject([{ fromBlock: blockNumber, toBlock: blockNumber }])

	failing.numbers.clear()
	failing.hashes.clear()
	await dieWriting('system.recovered', [1])
	expect(await gaps()).toMatchObject([{ fromBlock: blockNumber, toBlock: blockNumber }])
	await dieWriting('system.recovered', [2])
	await dieSending('system.recovered')
	await live(() => heard('system.recovered') > 0 && heard('alert.transfer') > 1)
	// And that was all there was to tell.
	expect((await here.run(['once'])).code).toBe(0)
	expect(await gaps()).toEqual([])
	const distinct = [...new Map(bodies().map((each) => [each.data.deliveryId, each])).values()]
	const facts = distinct.map(({ type, data }) => [type, data.valueWei ?? data.fromBlock, data.late ?? null])
	expect(facts).toHaveLength(4)
	expect(new Set(facts)).toEqual(
		new Set([
			['system.gap', blockNumber, null],
			['alert.transfer', '2', expect.any(Boolean)],
			['alert.transfer', '1', true],
			['system.recovered', blockNumber, null],
		]),
	)
}, 120_000)
