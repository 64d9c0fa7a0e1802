/** The built program as its user has it: a folder with a configuration, and `node dist/cli.js` beside it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createArrivals } from './arrivals.js'
import { temporaryFolder } from './folder.js'

export const cliPath = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface Ended {
	/** Null when a signal ended it. */
	readonly code: number | null
	readonly stdout: string
	readonly stderr: string
}

export interface Running {
	readonly process: ChildProcess
	/** Everything printed so far, both streams. */
	output(): string
	/** Resolves with the first log line (parsed) that `matches` likes, also one that was printed before. */
	line(matches: (line: LogLine) => boolean): Promise<LogLine>
	/** Sends a signal and waits for the end. */
	stop(signal?: NodeJS.Signals): Promise<Ended>
	readonly ended: Promise<Ended>
}

export type LogLine = { readonly msg: string; readonly level: string; readonly [key: string]: unknown }

export interface Site {
	readonly folder: string
	write(name: string, text: string): void
	/** Runs a command to its end. */
	run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>
	/** Starts a command that goes on. */
	start(args: readonly string[], env?: Readonly<Record<string, string>>): Running
	/** Kills what still runs and removes the folder. */
	close(): Promise<void>
}

/** `files` by name below the folder. */
export function openSite(files: Readonly<Record<string, string>>): Site {
	const folder = temporaryFolder()
	const children = new Set<Running>()
	const write = (name: string, text: string) => {
		mkdirSync(dirname(join(folder, name)), { recursive: true })
		writeFileSync(join(folder, name), text)
	}
	for (const [name, text] of Object.entries(files)) write(name, text)

	function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
		const { PATH = '' } = process.env
		const child = spawn(process.execPath, [cliPath, ...args], {
			cwd: folder,
			env: { PATH, ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
		})
		const running = follow(child)
		children.add(running)
		void running.ended.then(() => children.delete(running))
		return running
	}

	return {
		folder,
		write,
		start,
		run: (args, env) => start(args, env).ended,
		async close() {
			await Promise.all([...children].map((running) => running.stop('SIGKILL')))
		},
	}
}

function follow(child: ChildProcess): Running {
	let stdout = ''
	let stderr = ''
	const arrivals = createArrivals(() => stdout + stderr)
	child.stdout?.on('data', (chunk) => {
		stdout += chunk
		arrivals.changed()
	})
	child.stderr?.on('data', (chunk) => {
		stderr += chunk
	})
	const ended = new Promise<Ended>((resolve) => {
		child.on('close', (code) => {
			resolve({ code, stdout, stderr })
			arrivals.changed()
		})
	})
	return {
		process: child,
		ended,
		output: () => stdout + stderr,
		line(matches) {
			let seen = 0
			return arrivals.wait(() => {
				const whole = stdout.lastIndexOf('\n') + 1
				for (const text of stdout.slice(seen, whole).split('\n')) {
					if (!text.startsWith('{')) continue
					const line: LogLine = JSON.parse(text)
					if (matches(line)) return line
				}
				seen = whole
				const status = child.exitCode ?? child.signalCode
				if (status === null) return undefined
				throw new Error(`the program ended (${status}) before that line:\n${stdout}${stderr}`)
			}, matches)
		},
		stop(signal = 'SIGTERM') {
			child.kill(signal)
			return ended
		},
	}
}
