// Headers without a timestamp, in one block and in every block: the block is a gap that says so, the network goes on.
import { expect, test } from 'vitest'
import { typed } from '../support/commandLine.js'
import type { Json } from '../support/oddChain.js'
import { startOddSite, told } from './site.js'

const timeless: Readonly<Record<string, (header: Json) => Json>> = {
	'no timestamp': ({ timestamp: _, ...header }) => header,
	'a timestamp after the year 9999': (header) => ({ ...header, timestamp: `0x${'f'.repeat(40)}` }),
}

test('a timestamp that is absent or no time, in one block: a gap says so, later payments are announced', async () => {
	const { chain, tells, hook, site, running } = await startOddSite()
	await tells(`transfer ${chain.mine({})}`)
	const odd = new Map<number, (header: Json) => Json>()
	chain.edit = (method, _params, result) => {
		const header = Object(result) as Json
		return method === 'eth_getBlockByNumber' ? (odd.get(Number(header.number))?.(header) ?? result) : result
	}
	const payments: string[] = []
	for (const [name, without] of Object.entries(timeless)) {
		const at = chain.head() + 1
		odd.set(at, without)
		payments.push(`transfer ${chain.mine({})}`)
		const gap = () => told(hook.hits).find(({ type, data }) => type === 'system.gap' && data.fromBlock === at)
		// Nothing follows it yet.
		await hook.until(() => gap() !== undefined)
		expect(JSON.stringify(gap()), name).toContain(`block ${at} has no timestamp`)
		await tells(`transfer ${chain.mine({})}`)
		expect((await typed(['status'], { cwd: site.folder })).stdout, name).toContain(`${at}`)
	}
	chain.edit = (_method, _params, result) => result
	await running.stop()
	site.start(['run'])
	await tells(...payments)
})

test('no timestamp in every block, from the first start: each block becomes a gap, and is read later', async () => {
	const { chain, tells, hook, site, running } = await startOddSite({
		prepare: (one) => {
			one.edit = (method, _params, result) =>
				method === 'eth_getBlockByNumber' && result ? { ...result, timestamp: undefined } : result
		},
	})
	const first = chain.head() + 1
	const paid = [chain.mine({}), chain.mine({})]
	const gaps = () =>
		new Set(told(hook.hits).flatMap(({ type, data }) => (type === 'system.gap' ? [Number(data.fromBlock)] : [])))
	await hook.until(() => gaps().has(first) && gaps().has(first + 1))
	expect((await typed(['status'], { cwd: site.folder })).stdout).not.toContain('is well')
	chain.edit = (_method, _params, result) => result
	await running.stop()
	site.start(['run'])
	await tells(...paid.map((one) => `transfer ${one}`))
})
