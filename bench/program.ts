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
	/** Changes the label of one of the addresses. */
	editAddress(index: number): void
	close(): void
}

export interface Program {
	readonly pid: number | undefined
	/** The first log line with this message. */
	line(message: string): Promise<LogLine>
	/** Resolves to the moment (of performance.now) at which a log line with this message came. */
	said(message: string): Promise<number>
	/** Resolves at the end of the process, to its exit code. */
	readonly ended: Promise<number | null>
	/** Highest so far, as the kernel counts it; null where it does not tell. */
	peakRssBytes(): number | null
	/** Of the processor, in all threads, so far; null where the kernel does not tell. */
	usedMs(): number | null
	/** Given to the disk so far; null where the kernel does not tell. */
	writtenBytes(): number | null
	stop(): Promise<void>
}

type LogLine = Readonly<Record<string, unknown>>

export interface GroundOptions {
	readonly rpc: string
	readonly hook: string
	readonly addresses: readonly Address[]
	readonly schedule: string
	readonly ws?: string
}

export function openGround({ rpc, hook, addresses, schedule, ws }: GroundOptions): Ground {
	const heads = ws === undefined ? '' : `, ws: "${ws}"`
	const network = `  - {name: local, chain_id: 31337, rpc: ["${rpc}"], schedule: "${schedule}"${heads}}`
	const receiver = `  - {name: hook, type: webhook, url: "${hook}"}`
	const rows = addresses.map((address, index) => `${address},Address ${index}`)
	return openFolder({
		'tracewatch.yaml': `networks:\n${network}\nreceivers:\n${receiver}\n`,
		'watchlists/all.yaml': 'network: local\nreceivers: [hook]\naddresses_from: addresses.csv\n',
		'watchlists/addresses.csv': `${rows.join('\n')}\n`,
	})
}

/** `files` by name below the folder. */
export function openFolder(files: Readonly<Record<string, string>>): Ground {
	const folder = mkdtempSync(join(tmpdir(), 'tracewatch-bench-'))
	mkdirSync(join(folder, 'watchlists'))
	for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
	return {
		start: (command) => start(command, folder),
		editAddress(index) {
			const file = join(folder, 'watchlists/addresses.csv')
			writeFileSync(file, readFileSync(file, 'utf8').replace(`,Address ${index}\n`, `,Edited ${index}\n`))
		},
		close: () => rmSync(folder, { recursive: true, force: true }),
	}
}

interface Said {
	readonly atMs: number
	readonly line: LogLine
}

function start(command: string, cwd: string): Program {
	const { PATH = '' } = process.env
	const child = spawn(process.execPath, [cli, command], { cwd, env: { PATH, LOG_LEVEL: 'debug' }, stdio: 'pipe' })
	const said = new Map<string, Said>()
	const waiting = new Map<string, (said: Said) => void>()
	let tail: string[] = []
	createInterface({ input: child.stdout }).on('line', (line) => {
		tail = [...tail.slice(-20), line]
		const read: LogLine = line.startsWith('{') ? JSON.parse(line) : { msg: line }
		const [msg, now] = [String(read['msg']), { atMs: performance.now(), line: read }]
		if (!said.has(msg)) said.set(msg, now)
		waiting.get(msg)?.(now)
	})
	child.stderr.on('data', (chunk) => tail.push(String(chunk)))
	const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
	const failed = ended.then((code) => {
		throw new Error(`tracewatch ${command} ended with ${code}:\n${tail.join('\n')}`)
	})
	failed.catch(() => {})
	const until = (message: string): Promise<Said> => {
		const before = said.get(message)
		if (before !== undefined) return Promise.resolve(before)
		return Promise.race([new Promise<Said>((resolve) => waiting.set(message, resolve)), failed])
	}
	return {
		pid: child.pid,
		line: async (message) => (await until(message)).line,
		said: async (message) => (await until(message)).atMs,
		ended,
		peakRssBytes: () => peakOf(child),
		usedMs: () => usedMsOf(child.pid),
		writtenBytes: () => told(child, 'io', /^write_bytes: (\d+)/m),
		async stop() {
			child.kill()
			await ended
		},
	}
}

function peakOf(child: ChildProcess): number | null {
	const kilobytes = told(child, 'status', /VmHWM:\s+(\d+) kB/)
	return kilobytes === null ? null : kilobytes * 1_024
}

/** A number that the kernel tells of a process; null where it does not. */
function told({ pid }: ChildProcess, file: string, pattern: RegExp): number | null {
	try {
		const found = pattern.exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]
		return found === undefined ? null : Number(found)
	} catch {
		return null
	}
}

/** Ticks of the kernel are 10 ms. */
function usedMsOf(pid: number | undefined): number | null {
	try {
		const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
			.replace(/^.*\) /, '')
			.split(' ')
		return (Number(fields[11]) + Number(fields[12])) * 10
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
