/** One question of `setup`: an option, the environment or a person answers, and the answer is tried at once. */

import { isCancel, password, select, text } from '@clack/prompts'
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../command.js'
import { whileWaiting } from '../shared/progress.js'

/** An answer that was tried does not work. */
export class AnswerError extends Error {
	override readonly name = 'AnswerError'
	readonly code: ExitCode

	constructor(words: string, code: ExitCode) {
		super(words)
		this.code = code
	}
}

export interface Interview {
	readonly io: Io
	/** Whether a person can be asked. */
	readonly asks: boolean
	/** Whether answers are tried. */
	readonly tries: boolean
}

interface Question<T> {
	/** Name of the option that answers. */
	readonly option: string
	/** The answer of an option or the environment. */
	readonly given: string | undefined
	/** The answer without a terminal, and for an empty line. Absent: none. */
	readonly usual?: string
	readonly message: string
	/** The terminal does not show the answer, and nothing that is printed later. */
	readonly isSecret?: boolean
	/** A person chooses one of these, by what stands beside it. */
	readonly choices?: Readonly<Record<string, string>>
	/** Throws a RangeError whose message completes "it …". */
	read(text: string): T
	/** Throws an Error that says why the answer does not work. */
	attempt?(value: T): Promise<void>
}

/** Asks until the answer works. An answer that no person gave must work. */
export async function answerOf<T>(interview: Interview, question: Question<T>): Promise<T> {
	const { io, asks, tries } = interview
	const { option, attempt } = question
	const given = question.given ?? (asks ? undefined : question.usual)
	if (given === undefined && !asks) throw unanswered(option)
	for (;;) {
		const answer = given ?? (await asked(question, io))
		const value = readAnswer(question, answer)
		if (question.isSecret === true) io.scrubber.add(typeof value === 'string' ? [answer, value] : [answer])
		if (!tries || attempt === undefined) return value
		try {
			await withoutEcho(asks, () =>
				whileWaiting(
					() => 'trying it',
					() => attempt(value),
				),
			)
			return value
		} catch (error) {
			io.signal.throwIfAborted()
			if (given !== undefined || !(error instanceof Error)) throw error
			io.err(`  ${error.message}`)
		}
	}
}

export function unanswered(option: string): UsageError {
	const words = `there is no terminal to ask on (or --yes): give --${option} (see \`tracewatch setup --help\`)`
	return new UsageError(words)
}

function readAnswer<T>({ option, read }: Question<T>, answer: string): T {
	try {
		return read(answer)
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		throw new UsageError(`--${option}: it ${error.message}`)
	}
}

async function asked<T>({ message, isSecret, choices, usual, read }: Question<T>, io: Io): Promise<string> {
	const validate = (typed = '') => {
		try {
			read(typed === '' ? (usual ?? '') : typed)
			return undefined
		} catch (error) {
			return io.scrubber.clean(`it ${error instanceof Error ? error.message : error}`)
		}
	}
	// 0 on a terminal that does not know its size.
	process.stderr.columns ||= 80
	process.stderr.rows ||= 24
	const how = { message, output: process.stderr, signal: io.signal }
	const answer = await (choices !== undefined
		? select({ ...how, options: Object.entries(choices).map(([value, label]) => ({ value, label })) })
		: isSecret === true
			? password({ ...how, message: `${message} (not shown)`, validate, clearOnError: true })
			: text({ ...how, validate, ...(usual !== undefined && { placeholder: usual, defaultValue: usual }) }))
	io.signal.throwIfAborted()
	if (isCancel(answer)) throw new DOMException('stopped', 'AbortError')
	return answer
}

/** The terminal does not show what is typed ahead: it may be the secret of the next question. */
async function withoutEcho(asks: boolean, work: () => Promise<void>): Promise<void> {
	if (!asks) return await work()
	const { stdin } = process
	// In raw mode the terminal does not send the signal itself.
	const onKeys = (keys: Buffer | string) => void (keys.includes('\u0003') && process.kill(process.pid, 'SIGINT'))
	stdin.setRawMode(true).on('data', onKeys).resume()
	try {
		await work()
	} finally {
		stdin.off('data', onKeys).pause().setRawMode(false)
	}
}
