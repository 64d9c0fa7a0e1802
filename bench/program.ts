// The whole program as its user has it: a process, a folder, a configuration.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Address } from '../src/model/glossary.js'

const cli = fileURLToPath(new URL('../src/cli.js', import.meta.url))

export interface Ground {
	/** Starts a command in the folder. */
	start(command: 'run' | 'once'): Program
	close(): void
}

export interface Program {
	/** Resolves to the moment (of performance.now) at which a log line with this message came. */
	said(message: string): Promise<number>
	/** Resolves at the end of the process, to its exit code. */
	readonly ended: Promise<number | null>
	/** Highest so far, as the kernel counts it; null where it does not tell. */
	peakRssBytes(): number | null
	stop(): Promise<void>
}

export interface GroundOptions {
	readonly rpc: string
	readonly hook: string
	readonly addresses: readonly Address[]
	readonly schedule: string
	readonly ws?: string
}

export function openGround({ rpc, hook, addresses, schedule, ws }: GroundOptions): Ground {
	const folder = mkdtempSync(join(tmpdir(), 'tracewatch-bench-'))
	mkdirSync(join(folder, 'watchlists'))
	const heads = ws === undefined ? '' : `, ws: "${ws}"`
	const network = `  - {name: local, chain_id: 31337, rpc: ["${rpc}"], schedule: "${schedule}"${heads}}`
	const receiver = `  - {name: hook, type: webhook, url: "${hook}"}`
	writeFileSync(join(folder, 'tracewatch.yaml'), `networks:\n${network}\nreceivers:\n${receiver}\n`)
	const list = 'network: local\nreceivers: [hook]\naddresses_from: addresses.csv\n'
	writeFileSync(join(folder, 'watchlists/all.yaml'), list)
	const rows = addresses.map((address, index) => `${address},Address ${index}`)
	writeFileSync(join(folder, 'watchlists/addresses.csv'), `${rows.join('\n')}\n`)
	return {
		start: (command) => start(command, folder),
		close: () => rmSync(folder, { recursive: true, force: true }),
	}
}

function start(command: string, cwd: string): Program {
	const { PATH = '' } = process.env
	const child = spawn(process.execPath, [cli, command], { cwd, env: { PATH, LOG_LEVEL: 'debug' }, stdio: 'pipe' })
	const said = new Map<string, number>()
	const waiting = new Map<string, (atMs: number) => void>()
	let tail: string[] = []
	createInterface({ input: child.stdout }).on('line', (line) => {
		tail = [...tail.slice(-20), line]
		const { msg } = line.startsWith('{') ? JSON.parse(line) : { msg: line }
		if (!said.has(msg)) said.set(msg, performance.now())
		waiting.get(msg)?.(performance.now())
	})
	child.stderr.on('data', (chunk) => tail.push(String(chunk)))
	const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
	const failed = ended.then((code) => {
		throw new Error(`tracewatch ${command} ended with ${code}:\n${tail.join('\n')}`)
	})
	failed.catch(() => {})
	return {
		said(message) {
			const atMs = said.get(message)
			if (atMs !== undefined) return Promise.resolve(atMs)
			return Promise.race([new Promise<number>((resolve) => waiting.set(message, resolve)), failed])
		},
		ended,
		peakRssBytes: () => peakOf(child),
		async stop() {
			child.kill()
			await ended
		},
	}
}

function peakOf({ pid }: ChildProcess): number | null {
	try {
		const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
		return kilobytes === undefined ? null : Number(kilobytes) * 1_024
	} catch {
		return null
	}
}

export interface LargeNode {
	readonly url: string
	setHead(number: number): Promise<void>
	close(): void
}

export async function startLargeNode(): Promise<LargeNode> {
	const child = fork(fileURLToPath(new URL('./largeNode.js', import.meta.url)))
	const [{ url }] = (await once(child, 'message')) as [{ url: string }]
	return {
		url,
		async setHead(head) {
			child.send({ head })
			await once(child, 'message')
		},
		close: () => void child.disconnect(),
	}
}
