// A block that a real node traces, but not in the time that a request may take: 50,000 calls to a precompiled contract
// in a stranger's transaction, and a tracer whose time grows with their square. Anvil answers nothing else while it
// traces, so that there are two of one life: one traces that block, the other answers all the rest.

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil, type TestAnvil, type Tx } from '../support/anvil.js'
import { assemble, initOf } from '../support/assembler.js'
import { orCut } from '../support/orCut.js'
import { hookServer, polled, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

interface Call {
	readonly id: unknown
	readonly method: string
	readonly params: readonly unknown[]
}

const source = 'debug_traceBlockByNumber'
/** Anvil took 47 s for 50,000 and four minutes for 100,000, on cores that had much else to do. */
const calls = 50_000
/** Longer than a request may take. */
const leastMs = 35_000

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
 * One endpoint before both. The block is really traced once; whoever asks for it waits as long as that took, until
 * `isReady`: then the answer is at hand, as it is at an endpoint that keeps what it has traced.
 */
async function endpointBefore(rest: TestAnvil, tracer: TestAnvil) {
	const slow = { block: '', txHash: '', isReady: false, tookMs: 0 }
	let tracing: Promise<object> | null = null
	async function trace(call: Call): Promise<object> {
		const askedAtMs = performance.now()
		tracing ??= post(tracer.url, { id: 0, method: source, params: [slow.block, { tracer: 'callTracer' }] }).then(
			(answer) => {
				slow.tookMs = performance.now() - askedAtMs
				return answer
			},
		)
		const { result } = (await tracing) as { result: readonly { readonly result: unknown }[] }
		while (!slow.isReady && performance.now() - askedAtMs < Math.max(leastMs, slow.tookMs)) await sleep(200)
		return { jsonrpc: '2.0', id: call.id, result: call.method === source ? result : result[0]?.result }
	}
	const answerTo = (call: Call) =>
		call.method.startsWith('debug_') && (call.params[0] === slow.block || call.params[0] === slow.txHash)
			? trace(call)
			: post(rest.url, call)
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
	const [rest, tracer] = [await startTestAnvil(), await startTestAnvil()]
	onTestFinished(async () => {
		await rest.stop()
		await tracer.stop()
	})
	const { url, slow, traced } = await endpointBefore(rest, tracer)
	/** To both; the tracer has the same blocks but for their times. */
	const send = async (tx: Tx) => {
		const receipts = await Promise.all([rest, tracer].map(async (node) => node.receipt(await node.send(tx))))
		const [receipt, other] = receipts
		if (receipt === undefined || receipt.transactionHash !== other?.transactionHash) throw new Error('two lives')
		return receipt
	}
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(url, { hook: hook.origin }, `    source: ${source}\n`),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
	})
	// It pays the watch at its end, so that there is something to be told of the block.
	const loop = `0 CALLDATALOAD loop: 0 0 0 0 0 4 100 CALL POP 0x${'f'.repeat(64)} ADD DUP1 @loop JUMPI`
	const runtime = assemble(`${loop} 0 0 0 0 7 ${vault} GAS CALL STOP`)
	const made = await send({ from: stranger, data: initOf(runtime), gas: 1_000_000n })
	const running = here.start(['run'])
	await polled(running)
	await send({ from: treasury, to: vault, valueWei: 1n })
	await hook.until(1)

	const data = `0x${calls.toString(16).padStart(64, '0')}`
	const hostile = { from: stranger, to: made.contractAddress ?? vault, valueWei: 7n, data, gas: 29_000_000n }
	const { blockNumber, transactionHash, status, gasUsed } = await send(hostile)
	expect(status).toBe('0x1')
	slow.block = blockNumber
	slow.txHash = transactionHash
	const sentAtMs = Date.now()
	await send({ from: treasury, to: vault, valueWei: 2n })
	// An endpoint that is asked anew what it can do shows it on the newest blocks.
	for (let count = 0; count < 8; count++) await send({ from: stranger, to: treasury, valueWei: 1n })
	await hook.until(3)
	const passedMs = Date.now() - sentAtMs
	expect(told(hook.hits).map((each) => [each.type, each.data.valueWei ?? each.data.fromBlock])).toEqual([
		['alert.transfer', '1'],
		['system.gap', Number(blockNumber)],
		['alert.transfer', '2'],
	])
	// What comes after is told at once.
	await send({ from: treasury, to: vault, valueWei: 3n })
	await hook.until(4)
	expect((await here.run(['status'])).code).toBe(1)

	expect(await traced()).toHaveProperty('result')
	slow.isReady = true
	const retry = await here.run(['gaps', 'retry', String(Number(blockNumber))])
	expect(retry.stdout).toBe('1 block will be asked for at the next poll\n')
	await hook.until(6)
	const [late, recovered] = told(hook.hits).slice(4)
	expect([late.type, late.data.valueWei, late.data.late]).toEqual(['alert.transfer', '7', true])
	expect([recovered.type, recovered.data.fromBlock]).toEqual(['system.recovered', Number(blockNumber)])
	expect((await here.run(['status'])).code).toBe(0)
	expect((await running.stop()).code).toBe(0)
	console.log(
		`${Number(gasUsed)} gas: Anvil traces it in ${Math.round(slow.tookMs / 1_000)} s; ` +
			`passed over after ${Math.round(passedMs / 1_000)} s`,
	)
}, 1_200_000)
