import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fitWords } from '../base/text/outgoing.js'
import type { Log } from '../model/ports.js'
import type { Scrubber } from './scrub.js'

export type Notifier = ReturnType<typeof createNotifier>

export interface NotifierOptions {
	readonly env: NodeJS.ProcessEnv
	readonly pid: number
	readonly log: Log
	readonly scrubber: Pick<Scrubber, 'clean'>
}

const LONGEST_STATUS_CHARACTERS = 300

/**
 * Notifies the service manager (sd_notify(3)). Without a service manager every method does nothing. Node cannot open
 * Unix datagram sockets: `systemd-notify` sends the messages, in order, each in about 15 ms.
 */
export function createNotifier({ env, pid, log, scrubber }: NotifierOptions) {
	const isOn = Boolean(env.NOTIFY_SOCKET)
	let shown: string | null = null
	let waiting: (readonly string[])[] = []
	let last = Promise.resolve()
	let isLogged = false

	async function sendNext(): Promise<void> {
		const next = waiting.shift()
		if (next === undefined) return
		try {
			await runHelper(next, env)
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error)
			if (!isLogged) log.warn({ reason }, 'the service manager could not be notified of our state')
			isLogged = true
		}
	}

	// On one line: a line feed would begin another message.
	const inLine = (text: string) => fitWords(scrubber.clean(text)).slice(0, LONGEST_STATUS_CHARACTERS)
	const say = (lines: readonly string[], status?: string) => {
		if (!isOn) return
		if (status !== undefined) shown = inLine(status)
		waiting.push(status === undefined ? lines : [...lines, `STATUS=${shown}`])
		last = last.then(sendNext)
	}
	/** Of these, only the newest is sent if the helper is slow. */
	const sayNewest = (kind: 'STATUS' | 'WATCHDOG', lines: readonly string[], status?: string) => {
		waiting = waiting.filter(([first = '', ...more]) => more.length > 0 || !first.startsWith(`${kind}=`))
		say(lines, status)
	}
	return {
		isOn,
		/** `watchdog` must be called at least this often, in milliseconds; null when the watchdog is off. */
		watchdogMs: isOn ? watchdogFrom(env, pid) : null,
		/** The start or a reload is complete. */
		ready: (status?: string) => say(['READY=1'], status),
		/** One line for `systemctl status`. A text equal to the last one is not sent again. */
		status(text: string) {
			if (inLine(text) !== shown) sayNewest('STATUS', [], text)
		},
		/** Reports progress, so that the manager does not kill this process. */
		watchdog: () => sayNewest('WATCHDOG', ['WATCHDOG=1']),
		/** A reload begins; `ready` reports its end. `Type=notify-reload` needs the timestamp. */
		reloading: () => say(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]),
		stopping: (status?: string) => say(['STOPPING=1'], status),
		/** Resolves when all messages have been sent. */
		flush: () => last,
	}
}

/** `WATCHDOG_USEC` in milliseconds; null when it is absent or meant for another process (sd_watchdog_enabled(3)). */
function watchdogFrom(env: NodeJS.ProcessEnv, pid: number): number | null {
	const { WATCHDOG_PID: forPid = String(pid), WATCHDOG_USEC: usec = '' } = env
	return forPid === String(pid) && /^[1-9]\d*$/.test(usec) ? Number(usec) / 1000 : null
}

const execute = promisify(execFile)

/**
 * The unit must have `NotifyAccess=all`. On a stop systemd kills all processes of the unit, including a running helper;
 * the message is then sent once more.
 */
async function runHelper(lines: readonly string[], { NOTIFY_SOCKET, PATH }: NodeJS.ProcessEnv): Promise<void> {
	const run = () => execute('systemd-notify', ['--', ...lines], { env: { NOTIFY_SOCKET, PATH }, timeout: 10_000 })
	await run().catch((error) => (error.signal === 'SIGTERM' ? run() : Promise.reject(error)))
}
