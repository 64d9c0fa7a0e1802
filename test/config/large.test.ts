import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { check } from '../../src/commands/check.js'
import { toChecksum } from '../../src/config/address.js'
import { followWatchlists } from '../../src/config/follow.js'
import { loadConfig } from '../../src/config/load.js'
import type { Address, Watch } from '../../src/model.js'
import { createScrubber } from '../../src/ops/scrub.js'

const count = 100_000
const addresses = Array.from({ length: count }, (_, index): Address => {
	const digits = createHash('sha256').update(String(index)).digest('hex').slice(0, 40)
	return `0x${digits}`
})
const settings = `networks:
  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"]}
receivers:
  - {name: hook, type: webhook, url: "http://127.0.0.1:9000"}
`
const head = 'network: base\nreceivers: [hook]\n'
const forms: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
	'a file in lower case': {
		'exchange.yaml': () => `${head}addresses_from: ../exchange.csv\n`,
		'../exchange.csv': () => addresses.map((address, index) => `${address},Exchange ${index},cold;hot\n`).join(''),
	},
	'a file with checksums and quotes': {
		'exchange.yaml': () => `${head}addresses_from: ../exchange.csv\n`,
		'../exchange.csv': () =>
			addresses.map((address, index) => `${toChecksum(address)},"Exchange ""${index}""",cold hot\r\n`).join(''),
	},
	'a list in YAML': {
		'exchange.yaml': () =>
			`${head}watches:\n${addresses.map((address, index) => `  - address: ${address}\n    label: Exchange ${index}\n    tags: [cold, hot]\n    min_value: 0.5\n`).join('')}`,
	},
}

describe.each(Object.entries(forms))('100,000 watches from %s', (_, files) => {
	let folder: string
	beforeAll(() => {
		folder = mkdtempSync(join(tmpdir(), 'tracewatch-large-'))
		mkdirSync(join(folder, 'watchlists'))
		writeFileSync(join(folder, 'tracewatch.yaml'), settings)
		for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, 'watchlists', name), content())
	})
	afterAll(() => rmSync(folder, { recursive: true }))

	/** How long the work takes, and the longest that anybody else had to wait for it, in milliseconds. */
	async function measure(
		work: () => Promise<unknown>,
	): Promise<{ readonly tookMs: number; readonly blockedMs: number }> {
		const delay = monitorEventLoopDelay({ resolution: 1 })
		delay.enable()
		await pause(20)
		delay.reset()
		const began = performance.now()
		await work()
		const tookMs = performance.now() - began
		await pause(20)
		delay.disable()
		return { tookMs, blockedMs: delay.max / 1e6 }
	}

	test('pass check in less than 3 s and in few lines, and block the event loop for no longer than 50 ms', async () => {
		const out: string[] = []
		const run = () => {
			out.length = 0
			return check.run(
				{ values: {}, positionals: [] },
				{
					out: (line) => out.push(line),
					err: (line) => out.push(line),
					env: {},
					cwd: folder,
					isTty: false,
					signal: new AbortController().signal,
					scrubber: createScrubber(),
				},
			)
		}
		// A busy machine makes a run look slow, never fast: the best of a few tells.
		const runs: { readonly tookMs: number; readonly blockedMs: number }[] = []
		for (let tries = 0; tries < 5; tries++) {
			runs.push(await measure(run))
			if (runs.some(({ tookMs, blockedMs }) => tookMs < 3_000 && blockedMs < 50)) break
		}
		expect(Math.min(...runs.map(({ tookMs }) => tookMs))).toBeLessThan(3_000)
		expect(Math.min(...runs.map(({ blockedMs }) => blockedMs))).toBeLessThan(50)
		expect(out.length).toBeLessThan(30)
		expect(out.filter((line) => line.includes('on base: transfers'))).toHaveLength(10)
		expect(out).toContain('  … and 99990 more in exchange.yaml; --all names them')
		expect(out.at(-1)).toBe('configuration is right: 1 network, 100000 watches, 1 receiver')
	})

	test('reload in the same way', async () => {
		const config = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		const lists = followWatchlists(config, { cwd: folder })
		let watches: readonly Watch[] = []
		const runs: number[] = []
		for (let tries = 0; tries < 5; tries++) {
			const { blockedMs } = await measure(async () => {
				watches = (await lists.load()).watches
			})
			runs.push(blockedMs)
			if (blockedMs < 50) break
		}
		expect(watches.map(({ address }) => address)).toEqual(addresses)
		expect(watches.at(-1)).toEqual(config.watches.at(-1))
		expect(Math.min(...runs)).toBeLessThan(50)
	})
})
