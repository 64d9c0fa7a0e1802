// What a measurement stands on: a node, a proxy that counts, a receiver, and the built program in a folder of its own.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Pool } from 'undici'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, cli: { type: 'string' } } })
export const isQuick = values.quick
/** `--cli FILE`: another build, to compare with. */
const cli = resolve(values.cli ?? fileURLToPath(new URL('../dist/cli.js', import.meta.url)))
export const isOwnBuild = values.cli === undefined

const closers = []
process.on('exit', () => {
	for (const close of closers) close()
})

/** Watched address number `index`. */
export const watched = (index) => `0x${createHash('sha256').update(`watched ${index}`).digest('hex').slice(0, 40)}`
export const hex = (number) => `0x${number.toString(16)}`

/** `part` from 0 to 1; the list is not empty. */
export const quantile = (list, part) =>
	list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(part * list.length))]

export async function startAnvil() {
	const main = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')
	const cpu = process.arch === 'x64' ? 'amd64' : process.arch
	const file = createRequire(main).resolve(`@foundry-rs/anvil-${process.platform}-${cpu}/bin/anvil`)
	const child = spawn(file, ['--port', '0', '--accounts', '20', '--balance', '1000000000'], { stdio: 'pipe' })
	closers.push(() => child.kill('SIGKILL'))
	const [url] = await firstMatch(child.stdout, /Listening on (\S+)/)
	const pool = new Pool(`http://${url}`)
	const rpc = async (method, ...params) => {
		const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
		const answer = await pool.request({
			method: 'POST',
			path: '/',
			headers: { 'content-type': 'application/json' },
			body,
		})
		const { result, error } = await answer.body.json()
		if (error !== undefined) throw new Error(`${method}: ${error.message}`)
		return result
	}
	const [sender] = await rpc('eth_accounts')
	// On a chain of no blocks nothing has settled yet, and the program reads it anew at each poll.
	await rpc('anvil_mine', hex(64))
	/** Resolves to its receipt. */
	const send = async (tx) => {
		const hash = await rpc('eth_sendTransaction', { from: sender, gas: hex(3_000_000), ...tx })
		for (let receipt = null; ; await sleep(2)) {
			receipt = await rpc('eth_getTransactionReceipt', hash)
			if (receipt !== null) return receipt
		}
	}
	const stop = async () => {
		child.kill()
		await pool.destroy()
	}
	return { url: `http://${url}`, rpc, send, stop, head: async () => Number(await rpc('eth_blockNumber')) }
}

async function firstMatch(stream, pattern) {
	for await (const line of createInterface({ input: stream })) {
		const [, ...found] = pattern.exec(line) ?? []
		if (found.length > 0) return found
	}
	throw new Error(`${pattern} was never said`)
}

async function listen(handle) {
	const server = createServer(async (request, response) => {
		const chunks = []
		for await (const chunk of request) chunks.push(chunk)
		await handle(Buffer.concat(chunks).toString('utf8'), response)
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	closers.push(() => server.closeAllConnections())
	return {
		url: `http://127.0.0.1:${server.address().port}`,
		close() {
			server.close()
			server.closeAllConnections()
		},
	}
}

/** Between the program and a node: each answer `delayMs` late. `take()`: the exchanges since the last call of it. */
export async function startProxy(target, delayMs = 0) {
	const pool = new Pool(target, { headersTimeout: 0, bodyTimeout: 0 })
	const exchanges = []
	const headers = { 'content-type': 'application/json' }
	const server = await listen(async (request, response) => {
		const fromMs = performance.now()
		if (delayMs > 0) await sleep(delayMs)
		const answered = await pool.request({ method: 'POST', path: '/', headers, body: request })
		const answer = await answered.body.text()
		const methods = [JSON.parse(request)].flat().map(({ method }) => method)
		exchanges.push({ request, answer, methods, fromMs, toMs: performance.now() })
		response.writeHead(answered.statusCode, headers).end(answer)
	})
	const take = () => exchanges.splice(0)
	const close = async () => {
		server.close()
		await pool.destroy()
	}
	return { url: server.url, take, close }
}

/** `hits`: when each message came, and what it says. */
export async function startHook() {
	const hits = []
	let wake = () => {}
	const server = await listen((text, response) => {
		hits.push({ atMs: performance.now(), message: JSON.parse(text) })
		response.writeHead(200).end()
		wake()
	})
	const until = async (count) => {
		while (hits.length < count) await new Promise((resolve) => (wake = resolve))
	}
	return { url: server.url, hits, until, close: server.close }
}

/** `network`, `watchlist`: more lines of YAML. `start(command)` starts the program in the folder. */
export function openFolder({ rpc, hook, addresses, network = '', watchlist = '', schedule = '* * * * * *' }) {
	const folder = mkdtempSync(join(tmpdir(), 'tracewatch-bench-'))
	closers.push(() => rmSync(folder, { recursive: true, force: true }))
	mkdirSync(join(folder, 'watchlists'))
	const local = `{name: local, chain_id: 31337, rpc: ["${rpc}"], schedule: "${schedule}"${network}}`
	const files = {
		'tracewatch.yaml': `networks:\n  - ${local}
receivers:\n  - {name: hook, type: webhook, url: "${hook}"}\n`,
		'watchlists/all.yaml': `network: local\nreceivers: [hook]\naddresses_from: addresses.csv\n${watchlist}`,
		'watchlists/addresses.csv': `${addresses.map((address, index) => `${address},Address ${index}`).join('\n')}\n`,
	}
	for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
	const close = () => rmSync(folder, { recursive: true, force: true })
	return { start: (command) => startProgram(command, folder), close }
}

function startProgram(command, cwd) {
	const env = { PATH: process.env.PATH, LOG_LEVEL: 'debug' }
	const child = spawn(process.execPath, [cli, command], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
	closers.push(() => child.kill('SIGKILL'))
	const said = new Map()
	const waiting = new Set()
	createInterface({ input: child.stdout }).on('line', (line) => {
		const { msg } = line.startsWith('{') ? JSON.parse(line) : { msg: line }
		said.set(msg, performance.now())
		for (const one of waiting) one()
	})
	const ended = once(child, 'close').then(([code]) => code)
	/** From procfs; null where the system has none. */
	const number = (file, pattern) => {
		try {
			return Number(pattern.exec(readFileSync(`/proc/${child.pid}/${file}`, 'utf8'))?.[1] ?? Number.NaN)
		} catch {
			return null
		}
	}
	let peakKb = null
	const sampler = setInterval(() => (peakKb = number('status', /VmHWM:\s+(\d+) kB/) ?? peakKb), 20)
	ended.then(() => clearInterval(sampler))
	const program = {
		/** Resolves to the moment of the last log line with this message. */
		async said(message) {
			while (!said.has(message)) {
				const next = new Promise((resolve) => waiting.add(resolve))
				const code = await Promise.race([next.then(() => null), ended])
				if (code !== null && !said.has(message)) throw new Error(`tracewatch ${command} ended with ${code}`)
			}
			return said.get(message)
		},
		peakBytes: () => (peakKb === null ? null : peakKb * 1_024),
		writtenBytes: () => number('io', /^write_bytes: (\d+)/m),
		/** Processor time in all threads; ticks of the kernel are 10 ms. */
		usedMs() {
			const [, user, system] = /^.*\) (?:\S+ ){11}(\d+) (\d+)/.exec(stat(child.pid)) ?? []
			return user === undefined ? null : (Number(user) + Number(system)) * 10
		},
		/** Until it has neither written nor worked for three seconds, or a minute is over. */
		async still() {
			for (let quiet = 0, round = 0; quiet < 3 && round < 60; round += 1) {
				const before = [program.writtenBytes(), program.usedMs() ?? 0]
				await sleep(1_000)
				const isQuiet = program.writtenBytes() === before[0] && (program.usedMs() ?? 0) - before[1] < 200
				quiet = isQuiet ? quiet + 1 : 0
			}
		},
		/** Waits for its own end, which must be a good one. */
		async end() {
			const code = await ended
			if (code !== 0) throw new Error(`tracewatch ${command} ended with ${code}`)
			return program
		},
		async stop() {
			child.kill()
			await ended
		},
	}
	return program
}

function stat(pid) {
	try {
		return readFileSync(`/proc/${pid}/stat`, 'utf8')
	} catch {
		return ''
	}
}
