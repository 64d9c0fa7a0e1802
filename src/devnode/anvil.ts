/** Anvil as a child process that never outlives this one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { PlainError } from '../errors.js'
import { findAnvil } from './binary.js'

export interface Anvil {
	/** `http://127.0.0.1:<port>`, without a slash at the end. */
	readonly url: string
	/** Ends it; resolves when it is gone. May be called twice. */
	stop(): Promise<void>
}

export interface AnvilOptions {
	/** More arguments for Anvil; host and port are set here. */
	readonly args?: readonly string[]
	/** Aborting ends it, started or not. */
	readonly signal?: AbortSignal
}

const startTimeoutMs = 60_000
const stopTimeoutMs = 5_000
const keptOutput = 4_000

/**
 * The shell stands between so that Anvil dies with us even when we are killed without a word: its input is a pipe that
 * only we hold, and at its end the shell ends Anvil.
 */
const guard = `exec 3<&0
"$0" "$@" 3<&- </dev/null &
anvil=$!
(cat <&3; kill "$anvil") >/dev/null 2>&1 &
exec 3<&-
wait "$anvil"`

/**
 * Starts Anvil on a free port of the loopback interface and waits until it answers.
 * @throws PlainError when it is not installed, or ends or stays silent instead of answering; the message has its own
 * words.
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
	// A process group of its own: Ctrl-C in a terminal reaches us alone, and we end Anvil in our own order.
	return spawn('/bin/sh', ['-c', guard, binary, ...args], { stdio: [...stdio], detached: true })
}

function kill(child: ChildProcess) {
	try {
		if (process.platform !== 'win32' && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
		else child.kill('SIGKILL')
	} catch {
		// Gone in between.
	}
}

/** Anvil picks the port itself (so nobody can take it in between) and prints it. */
async function listening(child: ChildProcess): Promise<string> {
	let printed = ''
	let complaint = ''
	// Both streams must be read for as long as it lives, or it stops at a full pipe.
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
	// `close`, not `exit`: by then its last words have been read.
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
