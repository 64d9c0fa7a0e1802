import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Io } from '../command.js'

/** Asks a person at a terminal, one question after the other. */
export interface Asker {
	/** The answer, trimmed; '' for Enter alone. Rejects with the signal's reason. */
	ask(question: string): Promise<string>
	/** The same, but the terminal does not show the answer. */
	askHidden(question: string): Promise<string>
	close(): void
}

/** Whether questions can be asked: standard input and standard error are terminals. */
export function canAsk(): boolean {
	return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/**
 * Asks on standard error. Typed text is shown only while a question of `ask` is open, since text that is pasted in one
 * go may contain the answer to a later hidden question. Ctrl-C stops the program as usual; the end of the input counts
 * as Ctrl-C.
 */
export function createAsker({ signal }: Pick<Io, 'signal'>): Asker {
	let isShown = false
	const output = new Writable({
		write(chunk, _encoding, done) {
			if (isShown) process.stderr.write(chunk)
			done()
		},
	})
	const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 })
	const typed: string[] = []
	let waiting: (() => void) | null = null
	const wake = () => waiting?.()
	lines.on('line', (line) => {
		isShown = false
		typed.push(line.trim())
		wake()
	})
	// In raw mode the terminal does not send the signal itself.
	lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
	lines.on('close', wake)
	let isClosed = false
	lines.once('close', () => {
		isClosed = true
	})
	signal.addEventListener('abort', wake, { once: true })

	async function next(question: string, shown: boolean): Promise<string> {
		signal.throwIfAborted()
		process.stderr.write(question)
		isShown = shown
		while (typed.length === 0 && !signal.aborted && !isClosed) {
			await new Promise<void>((resolve) => {
				waiting = resolve
			})
		}
		isShown = false
		const answer = typed.shift()
		if (!shown || answer === undefined) process.stderr.write('\n')
		signal.throwIfAborted()
		if (answer === undefined) throw new DOMException('the input ended', 'AbortError')
		return answer
	}

	return {
		ask: (question) => next(question, true),
		askHidden: (question) => next(question, false),
		close() {
			signal.removeEventListener('abort', wake)
			lines.close()
		},
	}
}
