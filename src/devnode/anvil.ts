/** Runs Anvil as a child process that ends with this process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { PlainError } from '../errors.js'
import { findAnvil } from './binary.js'

export interface Anvil {
	/** `http://127.0.0.1:<port>`, without a slash at the end. */
	readonly url: string
	/** Stops Anvil; resolves when it has ended. May be called twice. */
	stop(): Promise<void>
}

export interface AnvilOptions {
	/** Further arguments for Anvil; host and port are set here. */
	readonly args?: readonly string[]
	/** Aborting stops Anvil, during the start too. */
	readonly signal?: AbortSignal
}

const startTimeoutMs = 60_000
const stopTimeoutMs = 5_000
const keptOutput = 4_000

/**
 * A shell between the two processes ends Anvil even when this process is killed: only this process holds the other end
 * of the shell's input pipe, and at the end of the input the shell kills Anvil.
 */
const guard = `exec 3<&0
"$0" "$@" 3<&- </dev/null &
anvil=$!
(cat <&3; kill "$anvil") >/dev/null 2>&1 &
exec 3<&-
wait "$anvil"`

/**
 * Starts Anvil on a free port of the loopback interface and waits until it answers.
 * @throws PlainError when it is not installed, ends early or does not answer in time; the message includes Anvil's
 * output.
 */
export async function startAnvil({ args = [], signal }: AnvilOptions = {}): Promise<Anvil> {
	signal?.throwIfAborted()
	const all = ['--host', '127.0.0.1', '--port', '0', ...args]
	const child = launch(findAnvil(), all)
	const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
	void gone.then(() => child.stdin?.destroy())
	child.stdin?.on('error', () => {})

	const stop = async () => {
		signal?.removeEventListener('abort', stop)
		if (process.platform === 'win32') child.kill()
		else child.stdin?.end()
		const force = setTimeout(() => kill(child), stopTimeoutMs)
		await gone
		clearTimeout(force)
	}
	signal?.addEventListener('abort', stop)
	try {
		const url = await listening(child)
		await answering(url, child)
		signal?.throwIfAborted()
		return { url, stop }
	} catch (error) {
		await stop()
		signal?.throwIfAborted()
		throw error
	}
}

function launch(binary: string, args: readonly string[]): ChildProcess {
	const stdio = ['pipe', 'pipe', 'pipe'] as const
	if (process.platform === 'win32') {
		const child = spawn(binary, args, { stdio: [...stdio] })
		process.once('exit', () => child.kill())
		return child
	}
	// A process group of its own: Ctrl-C in a terminal reaches this process only, which decides when Anvil stops.
	return spawn('/bin/sh', ['-c', guard, binary, ...args], { stdio: [...stdio], detached: true })
}

function kill(child: ChildProcess) {
	try {
		if (process.platform !== 'win32' && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
		else child.kill('SIGKILL')
	} catch {
		// It has ended meanwhile.
	}
}

/** Anvil picks the port itself, so that no other program can take it first, and prints it. */
async function listening(child: ChildProcess): Promise<string> {
	let printed = ''
	let complaint = ''
	// Both streams must be read while Anvil runs; it blocks when a pipe is full.
	child.stderr?.on('data', (chunk) => {
		complaint = (complaint + chunk).slice(-keptOutput)
	})
	const url = new Promise<string>((resolve) => {
		child.stdout?.on('data', (chunk) => {
			printed = (printed + chunk).slice(-keptOutput)
			const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(printed)?.[1]
			if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
		})
	})
	const over = new AbortController()
	const late = sleep(startTimeoutMs, 'was silent for too long', { signal: over.signal, ref: false })
	// `close`, not `exit`: at `close` all of its output has been read.
	const ended = once(child, 'close', { signal: over.signal }).then(([code]) => `ended with code ${code}`)
	try {
		const first = await Promise.race([url, ended, late])
		if (first.startsWith('http')) return first
		const words = complaint.trim() || printed.trim()
		throw new PlainError(`Anvil ${first} before it listened${words === '' ? '.' : `: ${words}`}`)
	} catch (error) {
		if (error instanceof PlainError) throw error
		throw new PlainError('Anvil could not be started.', { cause: error })
	} finally {
		over.abort()
		await Promise.allSettled([late, ended])
	}
}

async function answering(url: string, child: ChildProcess) {
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
	for (let waitMs = 10; child.exitCode === null && waitMs < 10_000; waitMs *= 2) {
		const signal = AbortSignal.timeout(startTimeoutMs)
		const headers = { 'content-type': 'application/json' }
		const answer = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => null)
		if (answer?.ok && 'result' in Object(await answer.json())) return
		await sleep(waitMs)
	}
	throw new PlainError('Anvil listened, but did not answer.')
}
