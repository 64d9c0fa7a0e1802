// A block that a node does not trace in the time that a request may take: 5,000 calls to a precompiled contract in a
// stranger's transaction. Anvil takes a second for them, so the endpoint before it holds the answer back.

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil, type TestAnvil, type Tx } from '../support/anvil.js'
import { assemble, initOf } from '../support/assembler.js'
import { orCut } from '../support/orCut.js'
import { smallFigures } from '../support/preload.js'
import { hookServer, inProcess, polled, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

interface Call {
	readonly id: unknown
	readonly method: string
	readonly params: readonly unknown[]
}

const source = 'debug_traceBlockByNumber'
const calls = 5_000
/** A request may take 4 s in place of 30, and a block counts as slow after 1.5 s in place of 4. */
const env = smallFigures(
	'requestTimeoutMs=4000,waitMs.normal=4000,longMs=2000,walkWait.oneMs=1500,walkWait.severalMs=1500,comingMs=1000',
)
/** Longer than a request may take. */
const leastMs = 10_000

/** However long it takes: `fetch` gives up after five minutes. */
async function post(url: string, call: Call): Promise<object> {
	const headers = { 'content-type': 'application/json' }
	const asking = request(url, { method: 'POST', headers, agent: false }).end(
		JSON.stringify({ jsonrpc: '2.0', ...call }),
	)
	const [answer] = (await once(asking, 'response')) as [IncomingMessage]
	return (await json(answer)) as object
}

/**
 * The block is really traced once; whoever asks for it waits, until `isReady`: then the answer is at hand, as it is at
 * an endpoint that keeps what it has traced.
 */
async function endpointBefore(node: TestAnvil) {
	const slow = { block: '', txHash: '', isReady: false }
	let tracing: Promise<object> | null = null
	async function trace(call: Call): Promise<object> {
		const askedAtMs = performance.now()
		tracing ??= post(node.url, { id: 0, method: source, params: [slow.block, { tracer: 'callTracer' }] })
		const { result } = (await tracing) as { result: readonly { readonly result: unknown }[] }
		while (!slow.isReady && performance.now() - askedAtMs < leastMs) await sleep(200)
		return { jsonrpc: '2.0', id: call.id, result: call.method === source ? result : result[0]?.result }
	}
	const answerTo = (call: Call) =>
		call.method.startsWith('debug_') && (call.params[0] === slow.block || call.params[0] === slow.txHash)
			? trace(call)
			: post(node.url, call)
	const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
		const chunks: Buffer[] = []
		for await (const chunk of incoming) chunks.push(chunk as Buffer)
		const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Call | Call[]
		const answers = await Promise.all([asked].flat().map(answerTo))
		response.setHeader('content-type', 'application/json')
		response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]))
	}
	const server = createServer((incoming, response) => orCut(response, answer(incoming, response)))
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	onTestFinished(() => {
		server.closeAllConnections()
		server.close()
	})
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, slow, traced: () => tracing }
}

test('behavior: a block traced too slowly becomes a gap, then a late alert; the next is not held up', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const { url, slow, traced } = await endpointBefore(node)
	const send = async (tx: Tx) => node.receipt(await node.send(tx))
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(url, { hook: hook.origin }, `    source: ${source}\n`),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
	})
	// It pays the watch at its end, so that there is something to be told of the block.
	const loop = `0 CALLDATALOAD loop: 0 0 0 0 0 4 100 CALL POP 0x${'f'.repeat(64)} ADD DUP1 @loop JUMPI`
	const runtime = assemble(`${loop} 0 0 0 0 7 ${vault} GAS CALL STOP`)
	const made = await send({ from: stranger, data: initOf(runtime), gas: 1_000_000n })
	const running = here.start(['run'], env)
	await polled(running)
	await send({ from: treasury, to: vault, valueWei: 1n })
	await hook.until(1)

	const data = `0x${calls.toString(16).padStart(64, '0')}`
	const hostile = { from: stranger, to: made.contractAddress ?? vault, valueWei: 7n, data, gas: 29_000_000n }
	const { blockNumber, transactionHash, status } = await send(hostile)
	expect(status).toBe('0x1')
	slow.block = blockNumber
	slow.txHash = transactionHash
	await send({ from: treasury, to: vault, valueWei: 2n })
	// An endpoint that is asked anew what it can do shows it on the newest blocks.
	for (let count = 0; count < 8; count++) await send({ from: stranger, to: treasury, valueWei: 1n })
	await hook.until(3)
	expect(told(hook.hits).map((each) => [each.type, each.data.valueWei ?? each.data.fromBlock])).toEqual([
		['alert.transfer', '1'],
		['system.gap', Number(blockNumber)],
		['alert.transfer', '2'],
	])
	// What comes after is told at once.
	await send({ from: treasury, to: vault, valueWei: 3n })
	await hook.until(4)
	expect((await inProcess(here).run(['status'])).code).toBe(1)

	expect(await traced()).toHaveProperty('result')
	slow.isReady = true
	const retry = await inProcess(here).run(['gaps', 'retry', String(Number(blockNumber))])
	expect(retry.stdout).toBe('1 block will be asked for at the next poll\n')
	await hook.until(6)
	const [late, recovered] = told(hook.hits).slice(4)
	expect([late.type, late.data.valueWei, late.data.late]).toEqual(['alert.transfer', '7', true])
	expect([recovered.type, recovered.data.fromBlock]).toEqual(['system.recovered', Number(blockNumber)])
	expect((await inProcess(here).run(['status'])).code).toBe(0)
	expect((await running.stop()).code).toBe(0)
}, 1_200_000)
