// For those who just want to look: one address on the terminal, without any file.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type FaultProxy, startFaultProxy } from '../support/faultProxy.js'
import { inFull, testInFull, testOnce } from '../support/longRun.js'
import { openSite, type Running, type Site } from '../support/program.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { other, treasury } from './site.js'

let node: TestAnvil
let proxy: FaultProxy
/** Providers have the key in the path. */
let rpc: string

beforeAll(async () => {
	node = await startTestAnvil()
	proxy = await startFaultProxy(node.url)
	rpc = `${proxy.url}/KEYq7XthatZ9mustN0tK2show/evm`
})
afterAll(async () => {
	await proxy.close()
	await node.stop()
})

function site(): Site {
	const opened = openSite({})
	onTestFinished(() => opened.close())
	return opened
}

/** Waits for a text among all that was printed; the test's own time is the limit. */
async function printed(running: Running, words: string): Promise<void> {
	while (!running.output().includes(words)) await new Promise((resolve) => setTimeout(resolve, 20))
}

testOnce('default: payments inside of contracts too, and nothing is left behind', async () => {
	const puppet = createAddress(other, BigInt(await node.rpc<string>('eth_getTransactionCount', [other, 'latest'])))
	await node.receipt(await node.send({ from: other, data: puppetInit }))
	const here = site()
	const running = here.start(['watch', treasury, '--rpc', rpc], { TMPDIR: here.folder })
	await printed(running, 'is watched')
	const data = encodeActions([{ do: 'call', to: treasury, valueWei: 7n, bubble: true }])
	const hash = await node.send({ from: other, to: puppet, valueWei: 7n, data, gas: 500_000n })
	await printed(running, hash)
	const { code, stdout } = await running.stop('SIGINT')
	expect(code).toBe(0)
	expect(stdout.trim().split('\n')).toHaveLength(1)
	expect(stdout).toContain('received 0.000000000000000007 ETH from')
	expect(running.output()).not.toContain('KEYq7XthatZ9mustN0tK2show')
	expect(readdirSync(here.folder)).toEqual([])
})

testOnce('behavior: a terminal that closes leaves no key of the endpoint on the disk', async () => {
	const here = site()
	const running = here.start(['watch', treasury, '--rpc', rpc], { TMPDIR: here.folder })
	await printed(running, 'is watched')
	expect((await running.stop('SIGHUP')).code).toBe(null)
	const left = readdirSync(here.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
	expect(left.map(({ name }) => name)).toContain('tracewatch.yaml')
	for (const { parentPath, name } of left)
		expect(readFileSync(join(parentPath, name), 'utf8'), name).not.toContain('KEYq7XthatZ9mustN0tK2show')
})

testInFull('behavior: a past event is printed as JSON by `watch --from`', async () => {
	const before = await node.head()
	const hash = await node.send({ from: other, to: treasury, valueWei: 5n })
	const running = site().start(['watch', treasury, '--rpc', rpc, '--from', String(before + 1n), '--json'])
	await printed(running, hash)
	const { stdout } = await running.stop('SIGINT')
	const [first] = stdout
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line))
	expect(first).toMatchObject({ type: 'alert.transfer', data: { txHash: hash, valueWei: '5', direction: 'in' } })
})

testInFull('behavior: the program ends once the reader of its output closes the pipe', async () => {
	const running = site().start(['watch', treasury, '--rpc', rpc, '--json'])
	await printed(running, 'is watched')
	running.process.stdout?.destroy()
	await node.receipt(await node.send({ from: other, to: treasury, valueWei: 6n }))
	expect((await running.ended).code).toBe(0)
})

inFull(() => {
	test('error: each mistake has its sentence', async () => {
		const here = site()
		const cases: readonly (readonly [string[], number, string])[] = [
			[['watch'], 2, "required option '--rpc <url>' not specified"],
			[
				['watch', '0x12', '--rpc', rpc],
				2,
				"invalid for argument 'address'. it must be an address: `0x12…` has 2 hex digits",
			],
			[['watch', treasury], 2, '--rpc'],
			[['watch', treasury, '--rpc', 'ftp://x'], 2, 'such as https://host/path'],
			[['watch', treasury, '--rpc', rpc, '--from', 'now'], 2, '--from'],
			[
				['watch', treasury, '--rpc', 'http://127.0.0.1:9/KEYq7XthatZ9mustN0tK2show'],
				75,
				'To do: look at the URL: its host, its port, its path and the key in it',
			],
		]
		for (const [args, code, words] of cases) {
			const ended = await here.run(args)
			expect(ended.code, args.join(' ')).toBe(code)
			expect(ended.stderr).toContain(words)
			expect(ended.stderr).not.toContain('KEYq7XthatZ9mustN0tK2show')
		}
	})
})
