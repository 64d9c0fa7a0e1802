import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRpc, type Rpc } from '../../../src/chain/rpc/rpc.js'
import type { RowList } from '../../../src/chain/stream/rowList.js'
import type { RpcError } from '../../../src/errors.js'
import { testInFull } from '../../support/longRun.js'
import { errorOf, never } from '../../support/pool.js'
import { expectShortTurns } from '../../support/soak.js'

let child: ChildProcess
let url: string
const opened: Rpc[] = []

beforeAll(async () => {
	child = fork(fileURLToPath(new URL('children/largeAnswers.js', import.meta.url)))
	const [port] = await once(child, 'message')
	url = `http://127.0.0.1:${port}`
})

afterAll(async () => {
	for (const rpc of opened) await rpc.close()
	child.disconnect()
})

function open(options: { maxBodyBytes?: number; timeoutMs?: number; onProgress?: () => void } = {}): Rpc {
	const rpc = createRpc({ url, ...options })
	opened.push(rpc)
	return rpc
}

test('behavior: half a gigabyte of inputs and 100,000 calls take little memory, and hold nothing up', async () => {
	let progress = 0
	const rpc = open({ onProgress: () => (progress += 1) })
	const before = process.memoryUsage().rss
	let most = before
	// By the wall or by the processor, whichever is less: what others do with this machine held nothing up here.
	let [longestMs, beganMs, used] = [0, performance.now(), process.cpuUsage()]
	const began = used
	const looks = setInterval(() => {
		most = Math.max(most, process.memoryUsage().rss)
		const { user, system } = process.cpuUsage(used)
		longestMs = Math.max(longestMs, Math.min(performance.now() - beganMs, (user + system) / 1_000))
		;[beganMs, used] = [performance.now(), process.cpuUsage()]
	}, 5)
	const result = (await rpc.call('debug_traceBlockByNumber', [500], never)) as RowList
	clearInterval(looks)
	const { user, system } = process.cpuUsage(began)
	const { result: tree } = result.at(0) as { result: Record<string, unknown> }
	expect(Object.keys(tree)).toEqual(['from', 'to', 'value', 'type', 'calls'])
	expect(tree).toMatchObject({ from: `0x${'11'.repeat(20)}`, to: `0x${'22'.repeat(20)}`, value: '0x7', type: 'CALL' })
	expect(tree.calls).toHaveLength(100_000)
	expect(progress).toBeGreaterThan(100)
	console.log(`half a gigabyte: +${Math.round((most - before) / 1e6)} MB, longest pause ${Math.round(longestMs)} ms`)
	expect(most - before).toBeLessThan(300_000_000)
	expectShortTurns(longestMs, (user + system) / 1_000)
})

test('error: more bytes than an answer may have', async () => {
	const error = await errorOf(open({ maxBodyBytes: 50_000_000 }).call('debug_traceBlockByNumber', [100], never))
	expect(error.facts).toMatchObject({ kind: 'too-large', method: 'debug_traceBlockByNumber' })
	expect(error.message).toContain('larger than 50000000 bytes')
})

test('error: a large answer is kept within a bound of memory, whatever the method', async () => {
	const error = await errorOf(open().call('eth_getBlockByNumber', [400], never))
	expect(error.facts.kind).toBe('too-large')
	expect(error.message).toContain('MiB of memory')
})

testInFull('behavior: a large answer that comes fast may take longer than the time for a small one', async () => {
	const times = [performance.now()]
	const rpc = open({ timeoutMs: 300, onProgress: () => void times.push(performance.now()) })
	const outcome = await rpc.once('debug_traceBlockByNumber', [400], never).then(
		(result) => (result as RowList).length,
		(error: RpcError) => error.facts.kind,
	)
	times.push(performance.now())
	// Where a process stood still it was not fast: 16 MiB, of four marks, may take 300 ms at first and then 4 s.
	const wasFast = times.every(
		(time, at) => at === 0 || time - (times[Math.max(0, at - 4)] ?? 0) < (at < 5 ? 250 : 3_500),
	)
	if (wasFast) expect(outcome).toBe(1)
	else expect([1, 'timeout']).toContain(outcome)
})
