/** One question of `setup`: an option, the environment or a person answers, and the answer is tried at once. */

import { isCancel, password, select, text } from '@clack/prompts'
import { PlainError, RpcError, UsageError } from '../../errors.js'
import { type ExitCode, exitCodes, type Io } from '../command.js'
import { whileWaiting } from '../shared/progress.js'
import type { Answer, Said } from './texts.js'

/** What became of trying an answer, and what is said of it. */
export interface Trial {
	readonly code: ExitCode
	readonly lines: readonly string[]
}

export interface Interview {
	readonly io: Io
	/** Whether a person can be asked. */
	readonly asks: boolean
	/** Whether answers are tried. */
	readonly tries: boolean
}

export interface Question {
	readonly key: Answer
	/** The options that answer, where that is not `key`. */
	readonly option?: string
	/** Environment variables that answer where no option does, the first that is set. */
	readonly variables?: readonly string[]
	readonly message: string | ((said: Said) => string)
	/** The terminal does not show the answer, and nothing that is printed later. */
	readonly isSecret?: true
	/** A person chooses one of these, by what stands beside it. */
	readonly choices?: Readonly<Record<string, string>>
	/** The answer to an empty line, and without a terminal. Absent: none. */
	readonly usual?: string
	/** Whether it is asked after these answers. Absent: always. */
	isFor?(said: Said): boolean
	/** The answer as it is kept. Throws a RangeError whose message completes "it …". */
	read(text: string, said: Said): string
	/** Tries what was said so far. Throws RpcError or PlainError where a node does not answer as it should. */
	attempt?(said: Said, io: Io): Promise<Trial>
}

/** Asks until the answer works, and keeps it in `said`. An answer that no person gave is tried once. */
export async function ask(question: Question, said: Said, { io, asks, tries }: Interview): Promise<ExitCode> {
	const { key, isSecret, attempt, isFor } = question
	if (isFor?.(said) === false) return exitCodes.done
	const given = said[key] ?? (asks ? undefined : question.usual)
	if (given === undefined && !asks) throw unanswered(question)
	for (;;) {
		const answer = given ?? (await asked(question, said, io))
		const value = readAnswer(question, answer, said)
		if (isSecret) io.scrubber.add([answer, value])
		said[key] = value
		if (!tries || attempt === undefined) return exitCodes.done
		const trial = () => attempt(said, io).catch(unanswering)
		const { code, lines } = await withoutEcho(asks, () => whileWaiting(() => 'trying it', trial))
		io.signal.throwIfAborted()
		for (const line of lines) io.err(`  ${line}`)
		if (code === exitCodes.done || given !== undefined) return code
	}
}

function unanswering(error: unknown): Trial {
	if (error instanceof RpcError) return { code: exitCodes.tryAgain, lines: [error.message] }
	if (error instanceof PlainError) return { code: exitCodes.failed, lines: [error.message] }
	throw error
}

export function unanswered({ key, option = key }: Pick<Question, 'key' | 'option'>): UsageError {
	const words = `there is no terminal to ask on (or --yes): give --${option} (see \`tracewatch setup --help\`)`
	return new UsageError(words)
}

function readAnswer({ key, option = key, read }: Question, answer: string, said: Said): string {
	try {
		return read(answer.trim(), said)
	} catch (error) {
		if (!(error instanceof RangeError)) throw error
		throw new UsageError(`${said.variables?.[key] ?? `--${option}`}: it ${error.message}`)
	}
}

async function asked({ message, isSecret, choices, usual, read }: Question, said: Said, io: Io): Promise<string> {
	const validate = (typed = '') => {
		try {
			read(typed.trim() === '' ? (usual ?? '') : typed.trim(), said)
			return undefined
		} catch (error) {
			return io.scrubber.clean(`it ${error instanceof Error ? error.message : error}`)
		}
	}
	// 0 on a terminal that does not know its size.
	process.stderr.columns ||= 80
	process.stderr.rows ||= 24
	const words = typeof message === 'string' ? message : message(said)
	const how = { message: words, output: process.stderr, signal: io.signal }
	const answer = await (choices !== undefined
		? select({ ...how, options: Object.entries(choices).map(([value, label]) => ({ value, label })) })
		: isSecret
			? password({ ...how, message: `${words} (not shown)`, validate, clearOnError: true })
			: text({ ...how, validate, ...(usual !== undefined && { placeholder: usual, defaultValue: usual }) }))
	io.signal.throwIfAborted()
	if (isCancel(answer)) throw new DOMException('stopped', 'AbortError')
	return answer
}

/** The terminal does not show what is typed ahead: it may be the secret of the next question. */
async function withoutEcho<T>(asks: boolean, work: () => Promise<T>): Promise<T> {
	if (!asks) return await work()
	const { stdin } = process
	// In raw mode the terminal does not send the signal itself.
	const onKeys = (keys: Buffer | string) => void (keys.includes('\u0003') && process.kill(process.pid, 'SIGINT'))
	stdin.setRawMode(true).on('data', onKeys).resume()
	try {
		return await work()
	} finally {
		stdin.off('data', onKeys).pause().setRawMode(false)
	}
}
