import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { devnode as command } from '../../src/commands/devnode.js'
import { startAnvil } from '../../src/devnode/anvil.js'
import { findAnvil } from '../../src/devnode/binary.js'
import { startDevnode } from '../../src/devnode/devnode.js'
import { PlainError, UsageError } from '../../src/errors.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { handOn } from '../support/anvil.js'
import { temporaryFolder } from '../support/folder.js'

async function answers(url: string): Promise<boolean> {
	return handOn(url)
		.rpc('eth_chainId')
		.then(() => true)
		.catch(() => false)
}

async function takenPort() {
	const server = createServer().listen(0, '127.0.0.1')
	await once(server, 'listening')
	return { port: (server.address() as { port: number }).port, free: () => server.close() }
}

describe('startAnvil', () => {
	test('default: a fresh chain on a port of its own, gone after stop', async () => {
		const [one, other] = await Promise.all([startAnvil(), startAnvil({ args: ['--chain-id', '77'] })])
		expect(await handOn(one.url).rpc('eth_chainId')).toBe('0x7a69')
		expect(await handOn(other.url).rpc('eth_chainId')).toBe('0x4d')
		await one.stop()
		expect([await answers(one.url), await answers(other.url)]).toEqual([false, true])
		await Promise.all([other.stop(), other.stop()])
		expect(await answers(other.url)).toBe(false)
	})

	test('behavior: the signal ends it, started or starting', async () => {
		const started = new AbortController()
		const anvil = await startAnvil({ signal: started.signal })
		started.abort()
		await anvil.stop()
		expect(await answers(anvil.url)).toBe(false)

		const starting = new AbortController()
		const promise = startAnvil({ signal: starting.signal })
		starting.abort(new Error('enough'))
		await expect(promise).rejects.toThrow('enough')
		await expect(startAnvil({ signal: starting.signal })).rejects.toThrow('enough')
	})

	test('behavior: it dies with a parent that is killed', async () => {
		// The parent is a plain Node that starts Anvil with the product's own code, compiled on the way by vitest's loader.
		const anvil = await startAnvil()
		await anvil.stop()
		const module = JSON.stringify(new URL('../../src/devnode/anvil.ts', import.meta.url).href)
		const script = `import { createServer } from 'vite'
			const server = { middlewareMode: true }
	const vite = await createServer({ configFile: false, server, appType: 'custom', logLevel: 'silent' })
			const { startAnvil } = await vite.ssrLoadModule(new URL(${module}).pathname)
			const { url } = await startAnvil()
			console.log(url)`
		const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
			stdio: ['ignore', 'pipe', 'inherit'],
		})
		const [line] = await once(parent.stdout, 'data')
		const url = String(line).trim()
		expect(await answers(url)).toBe(true)
		parent.kill('SIGKILL')
		await once(parent, 'exit')
		while (await answers(url)) await sleep(20)
	})

	test("error: an argument that Anvil refuses is reported in Anvil's words", async () => {
		const failing = startAnvil({ args: ['--no-such-thing'] })
		await expect(failing).rejects.toThrow(PlainError)
		await expect(failing).rejects.toThrow(/--no-such-thing/)
	})

	test('error: where it is not installed, the message says how to install it', async () => {
		const empty = temporaryFolder()
		const find = () => findAnvil([join(empty, 'package.json')])
		expect(find).toThrow(PlainError)
		expect(find).toThrow('npm install --save-dev @foundry-rs/anvil')
	})

	test('default: the program found is Anvil', async () => {
		const stdout = await new Promise<string>((resolve, reject) =>
			execFile(findAnvil(), ['--version'], (error, out) => (error ? reject(error) : resolve(out))),
		)
		expect(stdout).toMatch(/^anvil /)
	})
})

describe('startDevnode', () => {
	test('default: an endpoint with the key in its path, on loopback, gone after stop', async () => {
		const node = await startDevnode()
		expect(node.url).toBe(`http://127.0.0.1:${node.port}/dev/evm`)
		expect(await answers(node.url)).toBe(true)
		await Promise.all([node.stop(), node.stop()])
		await node.stop()
		expect([await answers(node.url), await answers(node.anvilUrl)]).toEqual([false, false])
	})

	test('behavior: an Anvil that runs already is used and left running', async () => {
		const anvil = await startAnvil()
		const node = await startDevnode({ anvilUrl: anvil.url, key: 'other' })
		expect(node.url.endsWith('/other/evm')).toBe(true)
		expect(await answers(node.url)).toBe(true)
		await node.stop()
		expect(await answers(anvil.url)).toBe(true)
		await anvil.stop()
	})

	test('behavior: a request that is under way does not hold up the stop', async () => {
		const node = await startDevnode()
		const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: ['0xffffff'] })
		const hanging = fetch(node.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
		const failed = expect(hanging).rejects.toThrow()
		await handOn(node.url)
			.rpc('eth_chainId')
			.catch(() => null)
		await node.stop()
		await failed
	})

	test('error: a port in use is named, with what to do', async () => {
		const { port, free } = await takenPort()
		const failing = startDevnode({ port })
		await expect(failing).rejects.toThrow(PlainError)
		await expect(failing).rejects.toThrow(new RegExp(`Port ${port} .* is in use.*--port`))
		free()
	})

	test('error: a key that cannot stand in a path', async () => {
		for (const key of ['', 'a/b', 'a b', 'ü', 'a?']) await expect(startDevnode({ key })).rejects.toThrow(PlainError)
	})
})

describe('the devnode command', () => {
	function start(values: Record<string, string>) {
		const ending = new AbortController()
		const lines: string[] = []
		let ready = () => {}
		const printed = new Promise<void>((resolve) => {
			ready = resolve
		})
		const out = (line: string) => {
			lines.push(line)
			if (line.includes('Ctrl-C')) ready()
		}
		const io = { out, err: out, env: {}, cwd: '/', isTty: false, signal: ending.signal, scrubber: createScrubber() }
		const ended = command.run({ values, positionals: [] }, io)
		return { lines, printed, ended, end: () => ending.abort() }
	}

	test('default: prints endpoint, chain id, accounts and YAML that can be pasted; ends with 0', async () => {
		const { lines, printed, ended, end } = start({ port: '0', key: 'mine' })
		await Promise.race([printed, ended])
		const url = /http:\S+/.exec(lines.join('\n'))?.[0] ?? ''
		expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mine\/evm$/)
		const hand = handOn(url)
		for (const account of (await hand.accounts()).slice(0, 3)) {
			expect(lines).toContainEqual(expect.stringMatching(new RegExp(`${account}.*10000 ETH`, 'i')))
		}
		const from = lines.indexOf('networks:')
		const yaml = lines.slice(from, lines.indexOf('', from)).join('\n')
		expect(parse(yaml)).toEqual({
			networks: [{ name: 'local', chain_id: 31337, rpc: [url], schedule: '*/2 * * * * *', stall_after: 'never' }],
		})
		end()
		expect(await ended).toBe(0)
		expect(await answers(url)).toBe(false)
	})

	test('behavior: --block-time mines by itself', async () => {
		const { lines, printed, ended, end } = start({ port: '0', 'block-time': '0.1' })
		await Promise.race([printed, ended])
		const hand = handOn(/http:\S+/.exec(lines.join('\n'))?.[0] ?? '')
		while ((await hand.head()) < 3n) await sleep(20)
		end()
		expect(await ended).toBe(0)
	})

	test('behavior: a signal before it has started ends it with 0', async () => {
		const { ended, end } = start({ port: '0' })
		end()
		expect(await ended).toBe(0)
	})

	test('error: wrong options are wrong usage', async () => {
		for (const values of [{ port: '70000' }, { port: 'x' }, { key: 'a/b' }, { 'block-time': '0' }]) {
			await expect(start(values as Record<string, string>).ended).rejects.toThrow(UsageError)
		}
	})

	test('error: a port in use fails', async () => {
		const { port, free } = await takenPort()
		await expect(start({ port: String(port) }).ended).rejects.toThrow(/is in use/)
		free()
	})
})
