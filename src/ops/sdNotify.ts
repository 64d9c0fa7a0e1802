import { spawn } from 'node:child_process'
import { fitWords } from '../base/text/outgoing.js'
import type { Log } from '../model/ports.js'
import type { Scrubber } from './scrub.js'

/** Notifies the service manager (sd_notify(3)). Without a service manager every method does nothing. */
export interface Notifier {
	/** Whether there is a service manager. */
	readonly isOn: boolean
	/** `watchdog` must be called at least this often, in milliseconds; null when the watchdog is off. */
	readonly watchdogMs: number | null
	/** The start or a reload is complete. */
	ready(status?: string): void
	/** One line for `systemctl status`. A text equal to the last one is not sent again. */
	status(text: string): void
	/** Reports progress, so that the manager does not kill this process. */
	watchdog(): void
	/** A reload begins; `ready` reports its end. */
	reloading(): void
	stopping(status?: string): void
	/** Resolves when all messages have been sent. */
	flush(): Promise<void>
}

export interface NotifierOptions {
	readonly env: NodeJS.ProcessEnv
	readonly pid: number
	readonly log: Log
	readonly scrubber: Pick<Scrubber, 'clean'>
}

/**
 * Node cannot open Unix datagram sockets: the program `systemd-notify` sends each message, in about 15 ms. The unit
 * must have `NotifyAccess=all`.
 */
export function createNotifier({ env, pid, log, scrubber }: NotifierOptions): Notifier {
	const isOn = Boolean(env.NOTIFY_SOCKET)
	const queue = createQueue((lines) => runHelper(lines, env), log)
	let shown: string | null = null

	const inLine = (text: string) => fitWords(oneLine(scrubber.clean(text)))
	const say = (lines: readonly string[], status?: string) => {
		if (!isOn) return
		if (status !== undefined) shown = inLine(status)
		queue.add(status === undefined ? lines : [...lines, `STATUS=${shown}`])
	}
	return {
		isOn,
		watchdogMs: isOn ? watchdogFrom(env, pid) : null,
		ready: (status) => say(['READY=1'], status),
		status(text) {
			if (inLine(text) !== shown) say([], text)
		},
		watchdog: () => say(['WATCHDOG=1']),
		// `Type=notify-reload` needs the timestamp.
		reloading: () => say(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]),
		stopping: (status) => say(['STOPPING=1'], status),
		flush: () => queue.drained(),
	}
}

/** `WATCHDOG_USEC` in milliseconds; null when it is absent or meant for another process (sd_watchdog_enabled(3)). */
function watchdogFrom(env: NodeJS.ProcessEnv, pid: number): number | null {
	const { WATCHDOG_PID: forPid = String(pid), WATCHDOG_USEC: usec = '' } = env
	return forPid === String(pid) && /^[1-9]\d*$/.test(usec) ? Number(usec) / 1000 : null
}

/** Sends messages in order, one at a time. Only the first failure is logged. */
function createQueue(send: (lines: readonly string[]) => Promise<void>, log: Log) {
	let last = Promise.resolve()
	let waiting: (readonly string[])[] = []
	let logged = false
	return {
		add(lines: readonly string[]) {
			// Of waiting status and watchdog messages only the newest is kept, in case the helper is slow.
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
					const reason = error instanceof Error ? error.message : String(error)
					if (!logged) log.warn({ reason }, 'the service manager could not be notified of our state')
					logged = true
				}
			})
		},
		drained: () => last,
	}
}

/**
 * On a stop systemd kills all processes of the unit, including a running helper; the message is then sent once more.
 */
async function runHelper(lines: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
	let ended = await endOfHelper(lines, env)
	if (ended === 'SIGTERM') ended = await endOfHelper(lines, env)
	if (ended !== 0) throw new Error(`systemd-notify ended with ${ended}`)
}

/** Exit code of the helper, or the signal that ended it. */
function endOfHelper(lines: readonly string[], env: NodeJS.ProcessEnv): Promise<number | NodeJS.Signals> {
	const { NOTIFY_SOCKET, PATH } = env
	return new Promise((resolve, reject) => {
		const child = spawn('systemd-notify', ['--', ...lines], {
			env: { NOTIFY_SOCKET, PATH },
			stdio: 'ignore',
			timeout: 10_000,
		})
		child.once('error', reject)
		child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'))
	})
}

function oneLine(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: a line feed would begin another message
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ').slice(0, 300)
}
