// Each block fails at the same check, or is refused: after a minute the blocks become gaps, and what comes later is
// told. An endpoint that is down makes no gaps.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { Refused, startDialectGateway } from '../support/dialectGateway.js'
import { preload } from '../support/preload.js'
import { hookServer, polled, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

const refusal = (code: number, message: string, status = 200) => {
	return () => {
		throw new Refused({ error: { code, message }, status })
	}
}
const outages: readonly (readonly [string, () => unknown])[] = [
	['HTTP 503', refusal(-32000, 'tracing failed', 503)],
	['HTTP 429', refusal(-32005, 'tracing failed', 429)],
	['a timeout', refusal(-32000, 'execution timeout')],
]

const debug = ['trace_filter', 'trace_block', 'trace_transaction']
const parity = ['trace_filter', 'trace_transaction', 'debug_traceBlockByNumber', 'debug_traceTransaction']

/** Each answer by a node that lacks these methods. */
const answers: readonly (readonly [string, readonly string[], () => unknown])[] = [
	['an error object', debug, refusal(-32000, 'tracing failed: internal error')],
	['no list', parity, () => ({})],
	['an error of the state', debug, refusal(-32000, 'missing trie node 5f1a')],
	['HTTP 400', debug, refusal(-32000, 'tracing failed', 400)],
	['null', parity, () => null],
]

type Twist = (method: string, result: unknown) => unknown

/** Each trace of a block or of a transaction is answered so. */
const traced =
	(answer: () => unknown): Twist =>
	(method) =>
		/^(debug_trace|trace_block)/.test(method) ? answer() : undefined

/** Each receipt says that its transaction failed, where the trace says that it succeeded. */
const failedReceipts: Twist = (method, result) => {
	const failed = (receipt: unknown) => ({ ...(receipt as object), status: '0x0' })
	if (method === 'eth_getBlockReceipts') return (result as unknown[]).map(failed)
	return method === 'eth_getTransactionReceipt' && result !== null ? failed(result) : undefined
}

/** A daemon whose endpoint answers by `twist` from the second payment on. */
async function failing(twist: Twist, lacks: readonly string[] = debug) {
	const node = await startTestAnvil()
	let isBroken = false
	let refused = 0
	const waiting = new Set<() => void>()
	const gateway = await startDialectGateway(node.url, {
		lacks,
		twist: (method, _, result) => {
			if (!isBroken) return undefined
			if (/^(debug_trace|trace_block)/.test(method)) {
				refused++
				for (const check of waiting) check()
			}
			return twist(method, result)
		},
	})
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }, '    proof: off\n'),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
		clock: '0',
	})
	const env = { ...preload('setClock'), SET_CLOCK: join(here.folder, 'clock'), PASS_TIME: '1' }
	const running = here.start(['run'], env)
	await polled(running)
	const paid = () => new Set(told(hook.hits).flatMap(({ data }) => data?.valueWei ?? []))
	const pay = (valueWei: bigint) => node.send({ from: treasury, to: vault, valueWei })
	await pay(1n)
	await hook.until(() => paid().has('1'))
	isBroken = true
	for (const valueWei of [2n, 3n, 4n]) await pay(valueWei)
	return {
		hook,
		running,
		pay,
		hasPaid: (...wei: readonly string[]) => hook.until(() => wei.every((one) => paid().has(one))),
		gaps: () => new Set(told(hook.hits).flatMap(({ type, data }) => (type === 'system.gap' ? data.fromBlock : []))),
		/** Resolves after so many more requests for traces. */
		asked(more: number) {
			const least = refused + more
			return new Promise<void>((resolve) => {
				const check = () => {
					if (refused < least) return
					waiting.delete(check)
					resolve()
				}
				waiting.add(check)
			})
		},
		heal() {
			isBroken = false
		},
		pass(seconds: number) {
			here.write('clock', `${seconds * 1_000}`)
			running.process.kill('SIGUSR2')
		},
	}
}

const rows = answers.map(([name, lacks, answer]) => [`${name} in place of each trace`, traced(answer), lacks] as const)

test.each([...rows, ['receipts that deny each trace', failedReceipts, debug] as const])(
	'%s: gaps after a minute',
	async (_, twist, lacks) => {
		const { hook, running, pay, pass, heal, hasPaid, gaps } = await failing(twist, lacks)
		await running.line(({ msg }) => msg === 'a block fails while others are read')
		expect(told(hook.hits).map(({ type }) => type)).toEqual(['alert.transfer'])
		pass(61)
		// The newest block has none after it that shows that it is not the only one.
		await hook.until(() => gaps().size > 1)
		heal()
		await pay(5n)
		// By then the endpoint is asked again what it can do.
		pass(4_000)
		await hasPaid('5')
		pass(8_000)
		await hasPaid('1', '2', '3', '4', '5')
	},
)

test('HTTP 503, HTTP 429 and a timeout in place of each trace, one after another: no gap', async () => {
	let answer = outages[0]?.[1] ?? (() => null)
	const { pay, pass, heal, hasPaid, asked, gaps } = await failing(traced(() => answer()))
	await asked(2)
	let passed = 0
	for (const [, next] of outages) {
		answer = next
		for (let count = 0; count < 3; count++) {
			passed += 61
			pass(passed)
			await asked(2)
		}
	}
	heal()
	await pay(5n)
	pass(passed + 120)
	await hasPaid('2', '3', '4', '5')
	expect(gaps()).toEqual(new Set())
})
