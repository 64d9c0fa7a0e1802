import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Io } from './command.js'

/** Questions to a person at a terminal, one after the other. */
export interface Asker {
	/** The answer, less the white space around it; '' for Enter alone. Rejects with the signal's reason. */
	ask(question: string): Promise<string>
	/** The same, and the terminal shows nothing of the answer. */
	askHidden(question: string): Promise<string>
	close(): void
}

/** Whether a person can be asked: keys come in from a terminal, and questions can be seen. */
export function canAsk(): boolean {
	return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/**
 * Asks on standard error. Nothing typed is shown but while a question is open that shows it: what is pasted in one go
 * may hold the secret after the next. Ctrl-C stops the program as ever; the end of the input counts as Ctrl-C.
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
	// In raw mode the terminal sends no signal by itself.
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
