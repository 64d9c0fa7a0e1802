import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay } from '../../src/devnode/pay.js'
import { ether, startTestDevnode, type TestDevnode } from '../support/anvil.js'
import { openSite } from '../support/program.js'

const payee = '0x00000000000000000000000000000000000000aa'
const never = new AbortController().signal
let node: TestDevnode

beforeAll(async () => {
	node = await startTestDevnode({})
})
afterAll(() => node.stop())

const balance = async () => BigInt((await node.rpc('eth_getBalance', [payee, 'latest'])) as string)

test('default: the payee has the coins, and the block is named', async () => {
	const before = await balance()
	const { blockNumber } = await pay(node.url, { to: payee, valueWei: ether / 4n }, never)
	expect(await balance()).toBe(before + ether / 4n)
	expect(blockNumber).toBe(BigInt((await node.rpc('eth_blockNumber', [])) as string))
})

test('behavior: the command takes whole coins or a unit', async () => {
	const site = openSite({})
	try {
		const before = await balance()
		const done = await site.run(['devnode', 'pay', payee, '250 gwei', '--rpc', node.url])
		expect(done).toMatchObject({ code: 0, stderr: '' })
		expect(done.stdout).toMatch(/^0\.00000025 ETH from 0x[0-9a-f]{40} to 0x0{38}aa: 0x[0-9a-f]{64}, block \d+\n$/)
		expect(await balance()).toBe(before + 250_000_000_000n)
	} finally {
		await site.close()
	}
})

test('error: each mistake has its sentence', async () => {
	const site = openSite({})
	try {
		const cases: readonly (readonly [string[], number, string])[] = [
			[['pay'], 2, 'needs the address'],
			[['pay', '0x12'], 2, 'an address is 0x and 40 hex digits'],
			[['pay', payee, 'much'], 2, 'is not an amount'],
			[['pya', payee], 2, 'there is `devnode pay`'],
			[['--rpc', 'http://127.0.0.1:9/dev/evm'], 2, 'goes with `devnode pay`'],
			[['pay', payee, '--rpc', 'http://127.0.0.1:9/dev/evm'], 1, '`tracewatch devnode` starts a node'],
		]
		for (const [args, code, words] of cases) {
			const ended = await site.run(['devnode', ...args])
			expect(ended.code, args.join(' ')).toBe(code)
			expect(ended.stderr).toContain(words)
		}
	} finally {
		await site.close()
	}
})
