import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { fitWords } from '../base/outgoing.js'
import type { Log } from '../model/ports.js'
import type { Scrubber } from './scrub.js'

/** What the service manager hears (sd_notify(3)). Without a service manager every method does nothing. */
export interface Notifier {
	/** How the manager is reached: a socket that it opened for us, the `systemd-notify` program, or not at all. */
	readonly way: 'socket' | 'helper' | 'none'
	/** How often `watchdog` must be called at the least; null when nobody waits for it. */
	readonly watchdogMs: number | null
	/** The start, or a reload, is done. */
	ready(status?: string): void
	/** One line for a person, shown by `systemctl status`. The same text again is not sent again. */
	status(text: string): void
	/** Progress was made: the manager need not kill this process. */
	watchdog(): void
	/** A reload begins; `ready` ends it. */
	reloading(): void
	stopping(status?: string): void
	/** Resolves when all that was said has been handed over. */
	flush(): Promise<void>
}

export interface NotifierOptions {
	readonly env: NodeJS.ProcessEnv
	readonly pid: number
	readonly log: Log
	readonly scrubber: Pick<Scrubber, 'clean'>
	/** The first file descriptor that systemd passes: always 3, but for tests. */
	readonly firstFd?: number
}

/**
 * Node cannot open a datagram socket of the local kind. systemd 253 and newer can open it for us: with
 * `OpenFile=/run/systemd/notify:notify` in the unit it passes a connected socket, and one write is one message.
 * Elsewhere the program `systemd-notify` does it, some 15 ms a message; the unit must then say `NotifyAccess=all`.
 */
export function createNotifier({ env, pid, log, scrubber, firstFd = 3 }: NotifierOptions): Notifier {
	const fd = socketFrom(env, pid, firstFd)
	const way = fd !== null ? 'socket' : env.NOTIFY_SOCKET ? 'helper' : 'none'
	const queue = createQueue((lines) => (fd !== null ? write(fd, lines) : runHelper(lines, env)), log)
	let shown: string | null = null

	const inLine = (text: string) => fitWords(oneLine(scrubber.clean(text)))
	const say = (lines: readonly string[], status?: string) => {
		if (way === 'none') return
		if (status !== undefined) shown = inLine(status)
		queue.add(status === undefined ? lines : [...lines, `STATUS=${shown}`])
	}
	return {
		way,
		watchdogMs: way === 'none' ? null : watchdogFrom(env, pid),
		ready: (status) => say(['READY=1'], status),
		status(text) {
			if (inLine(text) !== shown) say([], text)
		},
		watchdog: () => say(['WATCHDOG=1']),
		// Without the time of its beginning, `systemctl reload` may wait for another reload than this one.
		reloading: () => say(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]),
		stopping: (status) => say(['STOPPING=1'], status),
		flush: () => queue.drained(),
	}
}

/** The descriptor that is named `notify` among those passed to this process (sd_listen_fds(3)). */
function socketFrom(env: NodeJS.ProcessEnv, pid: number, firstFd: number): number | null {
	if (env.LISTEN_PID !== String(pid)) return null
	const index = (env.LISTEN_FDNAMES ?? '').split(':').indexOf('notify')
	return index >= 0 && index < Number(env.LISTEN_FDS) ? firstFd + index : null
}

/** `WATCHDOG_USEC`, unless it is meant for another process (sd_watchdog_enabled(3)). */
function watchdogFrom(env: NodeJS.ProcessEnv, pid: number): number | null {
	const { WATCHDOG_PID: forPid = String(pid), WATCHDOG_USEC: usec = '' } = env
	return forPid === String(pid) && /^[1-9]\d*$/.test(usec) ? Number(usec) / 1000 : null
}

/** Messages in order, one at a time. A failure is logged once: the next hundred say no more. */
function createQueue(send: (lines: readonly string[]) => Promise<void> | void, log: Log) {
	let last = Promise.resolve()
	let waiting: (readonly string[])[] = []
	let logged = false
	return {
		add(lines: readonly string[]) {
			// Status and watchdog are worth nothing twice: when the helper is slow, the newest of each is enough.
			const kinds = lines.map((line) => line.slice(0, line.indexOf('=')))
			const isState = kinds.some((kind) => kind !== 'STATUS' && kind !== 'WATCHDOG')
			if (!isState) waiting = waiting.filter((other) => other.length !== 1 || !other[0]?.startsWith(`${kinds[0]}=`))
			waiting.push(lines)
			last = last.then(async () => {
				const next = waiting.shift()
				if (next === undefined) return
				try {
					await send(next)
				} catch (error) {
					if (!logged) log.warn({ err: error }, 'the service manager could not be notified of our state')
					logged = true
				}
			})
		},
		drained: () => last,
	}
}

function write(fd: number, lines: readonly string[]): void {
	writeSync(fd, lines.join('\n'))
}

function runHelper(lines: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
	const { NOTIFY_SOCKET, PATH } = env
	return new Promise((resolve, reject) => {
		const child = spawn('systemd-notify', ['--', ...lines], {
			env: { NOTIFY_SOCKET, PATH },
			stdio: 'ignore',
			timeout: 10_000,
		})
		child.once('error', reject)
		child.once('exit', (code, signal) => {
			if (code === 0) resolve()
			else reject(new Error(`systemd-notify ended with ${code ?? signal}`))
		})
	})
}

function oneLine(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: a line feed would begin another message
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ').slice(0, 300)
}
