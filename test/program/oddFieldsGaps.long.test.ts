// What no endpoint gives, although it must exist: a header, and the logs of all blocks. The rest is told meanwhile.
import { expect, test } from 'vitest'
import { typed } from '../support/commandLine.js'
import { startOddSite, told } from './site.js'

test('blocks that stay null although the next one names them become gaps, later payments are announced', async () => {
	const { chain, tells, hook, site } = await startOddSite()
	await tells(`transfer ${chain.mine({})}`)
	const lost: number[] = []
	chain.edit = (method, [number], result) =>
		/^(eth_getBlock|debug_traceBlock)/.test(method) && lost.includes(Number(number)) ? null : result
	for (const missing of [1, 2]) {
		for (let count = 0; count < missing; count++) {
			lost.push(chain.head() + 1)
			chain.mine({})
		}
		const later = chain.mine({})
		chain.mine()
		await tells(`transfer ${later}`)
		const gaps = told(hook.hits).filter(({ type }) => type === 'system.gap')
		expect(new Set(gaps.map(({ data }) => data.fromBlock)).size).toBeGreaterThanOrEqual(missing)
		const { stdout, code } = await typed(['status'], { cwd: site.folder })
		for (const number of lost) expect(stdout).toContain(String(number))
		expect([stdout.includes('is well'), code === 0]).toEqual([false, false])
	}
})

test('logs that no method gives: coins are announced, the block is a gap, its tokens come later', async () => {
	const { chain, tells, hook, site, running } = await startOddSite({ kinds: 'transfer, token, unexplained' })
	await tells(`token ${chain.mine({ tokens: true })}`)
	const without = (one: unknown) => ({ ...(one as object), logs: 'none' })
	chain.edit = (method, _params, result) => {
		if (method === 'eth_getBlockReceipts') return (result as unknown[]).map(without)
		if (method === 'eth_getTransactionReceipt') return without(result)
		return method === 'eth_getLogs' ? undefined : result
	}
	const payment = chain.mine({ tokens: true })
	await tells(`transfer ${payment}`)
	const later = chain.mine({})
	await tells(`transfer ${later}`)
	expect((await typed(['status'], { cwd: site.folder })).stdout).toMatch(/logs only/)
	chain.edit = (_method, _params, result) => result
	// After a start a gap is asked for at once.
	await running.stop()
	site.start(['run'])
	await tells(`token ${payment}`)
	expect(told(hook.hits).flatMap(({ data }) => (data?.kind === 'unexplained' ? [data] : []))).toEqual([])
})

test('a transaction that only headers name, in each block: the others are announced, gaps name it', async () => {
	const unheard = `0x${'ab'.repeat(32)}`
	const { chain, tells, site } = await startOddSite({ kinds: 'transfer, token' })
	chain.edit = (method, _params, result) => {
		const { transactions = [] } = Object(result) as { transactions?: readonly string[] }
		const isFull = method === 'eth_getBlockByNumber' && transactions.length > 0
		return isFull ? { ...Object(result), transactions: [...transactions, unheard] } : result
	}
	const paid: string[] = []
	for (let block = 0; block < 2; block++) {
		paid.push(`transfer ${chain.mine({})}`)
		await tells(...paid)
	}
	const gaps = (await typed(['gaps', 'list', '--json'], { cwd: site.folder })).stdout.trimEnd().split('\n')
	expect(gaps).toHaveLength(paid.length)
	for (const gap of gaps) expect(gap).toContain(unheard)
})
