// A trace_filter that leaves out rows of old blocks: the payment is found, or `status` says what is not proved.
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hookServer, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

interface Case {
	readonly name: string
	/** Whether the filter lacks a payment in each block, or in one. */
	readonly lacksAll?: boolean
	/** Whether the blocks come while the program is stopped, instead of before its first start. */
	readonly isCatchUp?: boolean
	readonly setting?: string
	/** Whether the program is killed when it has sent the alerts of the rows, before any balance is answered. */
	readonly isKilled?: boolean
	/** The node has no state of old blocks. */
	readonly isPruned?: boolean
	readonly isFound: boolean
	readonly says: RegExp
}

const cases: readonly Case[] = [
	{ name: 'in a backfill that is killed before its proof', isKilled: true, isFound: true, says: /books: closed up to/ },
	{ name: 'in a catch-up, with books', isCatchUp: true, isFound: true, says: /books: closed up to block/ },
	{
		name: 'in a catch-up, without books',
		setting: '    proof: off\n',
		isCatchUp: true,
		isFound: false,
		says: /backfill not proved: \d+ blocks from \d+ to \d+/,
	},
	{
		name: 'in a backfill whose state the node has pruned',
		isPruned: true,
		isFound: false,
		says: /backfill not proved: \d+ blocks from 1 to \d+/,
	},
	{
		name: 'in a backfill without books',
		setting: '    proof: off\n',
		isFound: false,
		says: /backfill not proved: \d+ blocks from 1 to \d+/,
	},
	{
		name: 'in all blocks, without books',
		lacksAll: true,
		setting: '    proof: off\n',
		isFound: true,
		says: /backfill not proved: \d+ blocks from 1 to \d+/,
	},
]

test.each(cases)('rows that trace_filter lacks $name: the payment is found, or not proved', async (one) => {
	const node = await startTestAnvil()
	const missing = new Set<number>()
	const pruned = new Set<unknown>()
	let balances = Promise.resolve()
	const gateway = await startDialectGateway(node.url, {
		async twist(method, params, result) {
			if (method === 'trace_filter')
				return (result as { blockNumber: number }[]).filter(({ blockNumber }) => !missing.has(blockNumber))
			const isState = method === 'eth_getBalance' || method === 'eth_call'
			if (isState) await balances
			const { blockHash = params[1] } = Object(params[1]) as { blockHash?: unknown }
			return isState && pruned.has(blockHash) ? null : undefined
		},
	})
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const from = one.isCatchUp ? '' : ', from_block: 1'
	const here = siteOf({
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }, one.setting),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer, unexplained]${from}}`]),
	})
	const once = async () => expect(await typed(['once'], { cwd: here.folder })).toMatchObject({ code: 0 })
	await node.mine(2)
	if (one.isCatchUp) await once()
	const blocks: number[] = []
	for (let count = 0; count < (one.lacksAll ? 70 : 5); count++) {
		const { blockNumber } = await node.receipt(await node.send({ from: treasury, to: vault, valueWei: 5n }))
		blocks.push(Number(blockNumber))
		if (!one.lacksAll) await node.mine(6)
	}
	for (const number of one.lacksAll ? blocks : blocks.slice(2, 3)) missing.add(number)
	// The probe of the filter looks at the newest blocks.
	await node.mine(40)
	for (let count = 0; count < 3; count++) await node.send({ from: treasury, to: vault, valueWei: 7n })
	for (let number = 0n; one.isPruned && number < BigInt(await node.head()); number++) {
		const quantity = `0x${number.toString(16)}`
		const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', [quantity, false])
		pruned.add(quantity).add(hash)
	}
	if (one.isKilled) {
		let answer = () => {}
		balances = new Promise((resolve) => {
			answer = resolve
		})
		const running = here.start(['run'])
		await hook.until(() => hook.hits.length > 0)
		await running.stop('SIGKILL')
		answer()
		expect((await typed(['status'], { cwd: here.folder })).stdout).not.toContain('not proved')
	}
	await once()
	await once()

	const alerts = told(hook.hits)
	expect(alerts.map(({ type }) => type).filter((type) => type !== 'alert.transfer')).toEqual([])
	const paid = new Set(alerts.filter(({ data }) => data.valueWei === '5').map(({ data }) => data.blockNumber))
	// A sample may find what no balance proves.
	const due = one.isFound ? blocks : blocks.filter((number) => !missing.has(number))
	expect(due.filter((number) => !paid.has(number))).toEqual([])
	expect((await typed(['status'], { cwd: here.folder })).stdout).toMatch(one.says)
})
