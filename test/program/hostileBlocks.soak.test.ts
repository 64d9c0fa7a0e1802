// A stranger's cheap transaction, which touches no watch, must not hold up what gets the block after it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Hex } from '../../src/model/glossary.js'
import { handOn, startTestAnvil } from '../support/anvil.js'
import { assemble, initOf } from '../support/assembler.js'
import { startHookServer } from '../support/hookServer.js'
import { preload } from '../support/preload.js'
import { openSite } from '../support/program.js'
import { expectShortTurns } from '../support/soak.js'
import { settings, stranger, told, treasury, vault, watchlist } from './site.js'

const minusOne = `0x${'f'.repeat(64)}`
/** 64 KiB of input to no one: 131 KB of JSON a call, for 100 gas. */
const largeInput = '0 0 65536 0 0 0x000000000000000000000000000000000000dead 0'
const emptyCall = '0 0 0 0 0 4 100'

/** A contract that makes as many calls as the first word of its input says. */
function caller(call: string): Hex {
	return initOf(assemble(`0 CALLDATALOAD loop: ${call} CALL POP ${minusOne} ADD DUP1 @loop JUMPI STOP`))
}

/** One that calls itself with all of its gas, as deep as the EVM goes. */
const diver = initOf('0x60006000600060006000305af15000')

const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

const attacks = {
	'1: large inputs, traced by debug': [caller(largeInput), 1_000, 1_000_000n, 'debug_traceBlockByNumber'],
	'1: large inputs': [caller(largeInput), 1_000, 1_000_000n, 'auto'],
	// Fewer: Anvil's own tracer takes four times as long for twice as many.
	'2: 5,000 empty calls, traced by debug': [caller(emptyCall), 5_000, 29_000_000n, 'debug_traceBlockByNumber'],
	'2: 100,000 empty calls': [caller(emptyCall), 100_000, 29_000_000n, 'auto'],
	'5: as deep as the EVM goes, traced by debug': [diver, 0, 30_000_000_000n, 'debug_traceBlockByNumber'],
} as const

test.each(Object.keys(attacks) as (keyof typeof attacks)[])(
	'behavior: attack %s',
	async (name) => {
		const [init, calls, gas, source] = attacks[name]
		const isDeep = init === diver
		const node = isDeep ? await startTestAnvil(['--gas-limit', '60000000000']) : await startTestAnvil()
		const hook = await startHookServer()
		const here = openSite({
			'tracewatch.yaml': settings(node.url, { hook: hook.origin }, `    source: ${source}\n`),
			'watchlists/a.yaml': watchlist([`{address: ${treasury}, direction: out}`]),
		})
		onTestFinished(async () => {
			await here.close()
			await hook.close()
			await node.stop()
		})
		const made = await node.receipt(await node.send({ from: stranger, data: init, gas: 1_000_000n }))
		expect(made.status).toBe('0x1')
		const file = join(here.folder, 'loop.json')
		const running = here.start(['run'], { ...preload('loopWatch'), LOOP_WATCH: file })
		await running.line(({ msg }) => msg === 'coverage changed')
		await node.send({ from: treasury, to: vault, valueWei: 1n })
		await hook.until(1)
		running.process.kill('SIGUSR2')

		const hostile = await node.send({ from: stranger, to: made.contractAddress ?? vault, data: word(calls), gas })
		const { status, gasUsed, blockNumber } = await node.receipt(hostile)
		expect(status).toBe('0x1')
		const sentAtMs = Date.now()
		await node.send({ from: treasury, to: vault, valueWei: 2n })
		await hook.until(2)
		const tookMs = Date.now() - sentAtMs
		expect(told(hook.hits).map(({ data }) => data.valueWei)).toEqual(['1', '2'])
		expect((await running.stop()).code).toBe(0)

		// The node takes its time over the block, whoever asks; by the source that was used.
		const askedAtMs = Date.now()
		const isDebug = source === 'debug_traceBlockByNumber'
		const hand = handOn(node.url)
		if (isDebug) await hand.rpc(source, [blockNumber, { tracer: 'callTracer' }])
		else await hand.rpc('trace_block', [blockNumber])
		const nodeMs = Date.now() - askedAtMs
		const { longestMs, usedMs, peakBytes } = JSON.parse(readFileSync(file, 'utf8'))
		console.log(
			`attack ${name}: ${Number(gasUsed)} gas, told after ${tookMs} ms (the node alone ${nodeMs} ms), ` +
				`longest pause ${Math.round(longestMs)} ms, ${Math.round(peakBytes / 1e6)} MB`,
		)
		expectShortTurns(longestMs, usedMs)
		expect(peakBytes).toBeLessThan(400e6)
	},
	300_000,
)
