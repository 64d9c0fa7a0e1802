/** A command at a pseudo-terminal, as a person has it; `script` of util-linux makes the terminal. */
import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { createArrivals } from './arrivals.js'

export interface Terminal {
	/** Everything that the person has seen so far. */
	screen(): string
	/** Resolves when the text has come since the last one waited for; rejects when the command ends before. */
	sees(text: string): Promise<unknown>
	/** Waits for the text, then types the answer and Enter. */
	answers(question: string, answer: string): Promise<void>
	/** Types as it is, without Enter. */
	types(keys: string): void
	/** The exit code of the command. */
	readonly ended: Promise<number | null>
}

export function openTerminal(
	command: readonly string[],
	options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Terminal {
	const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
	const child = spawn('script', ['--quiet', '--return', '--flush', '--command', quoted, '/dev/null'], {
		cwd: options.cwd,
		env: { PATH: process.env.PATH ?? '', TERM: 'xterm', SHELL: '/bin/sh', ...options.env },
		stdio: ['pipe', 'pipe', 'pipe'],
	})
	onTestFinished(() => void child.kill('SIGKILL'))
	let output = ''
	let seenTo = 0
	const arrivals = createArrivals(() => output)
	child.stdin.on('error', () => {})
	for (const stream of [child.stdout, child.stderr]) {
		stream.on('data', (chunk) => {
			output += chunk
			arrivals.changed()
		})
	}
	let isOver = false
	const ended = new Promise<number | null>((resolve) => {
		child.on('close', (code) => {
			isOver = true
			arrivals.changed()
			resolve(code)
		})
	})
	const sees = (text: string) =>
		arrivals.wait(() => {
			const at = output.indexOf(text, seenTo)
			if (at === -1 && isOver) throw new Error(`the command ended before \`${text}\`:\n${output}`)
			if (at === -1) return undefined
			seenTo = at + text.length
			return seenTo
		}, text)
	return {
		screen: () => output,
		sees,
		async answers(question, answer) {
			await sees(question)
			child.stdin.write(`${answer}\r`)
		},
		types: (keys) => void child.stdin.write(keys),
		ended,
	}
}
