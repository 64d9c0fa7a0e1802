/** One question of `setup`: finds its answer, or asks until the answer is valid. */

import { UsageError } from '../../errors.js'
import type { CommandArgs, ExitCode, Io } from '../command.js'
import type { Asker } from './askPerson.js'
import type { Refusal, Trials } from './trial.js'

/** Secrets by the names of their variables. */
export type Secrets = ReadonlyMap<string, string>

/** Sources of an answer, in order: options, the environment, a person. */
export interface Sources {
	readonly values: CommandArgs['values']
	readonly io: Io
	/** Null: no terminal to ask on. */
	readonly asker: Asker | null
	/** Tries an answer when it is given; null: nothing is tried. */
	readonly trials: Trials | null
}

/** An answer that was tried does not work, and there is no terminal to ask for another one. */
export class TrialError extends Error {
	override readonly name = 'TrialError'
	readonly code: ExitCode

	constructor({ code, words }: Refusal) {
		super(words)
		this.code = code
	}
}

interface Choice<T> {
	/** Name of the option that sets it. */
	readonly option: string
	/** Default: the value of the option. */
	readonly given?: string | undefined
	readonly fromEnv?: string | undefined
	/** The answer for an empty line, and when no question can be asked. Absent: none. */
	readonly usual?: string | undefined
	readonly question: string
	readonly isSecret?: boolean
	/**
	 * Throws a RangeError whose message completes "it …", or a PlainError or RpcError when the test of the value failed.
	 */
	read(text: string): T | Promise<T>
	/** Tries the answer. Null: it works. */
	try?(value: T): Promise<Refusal | null>
}

/**
 * Asks until the answer is valid and works. An invalid value from an option or the environment is an error. A person
 * may take an answer that does not work.
 */
export async function choose<T>({ values, io, asker }: Sources, choice: Choice<T>): Promise<T> {
	const { option, question, usual, isSecret = false } = choice
	const value = values[option]
	const given = choice.given ?? (typeof value === 'string' ? value : undefined) ?? choice.fromEnv
	const shown = usual === undefined ? '' : ` [${usual === '' ? 'none' : usual}]`
	for (;;) {
		if (given === undefined && asker === null && usual === undefined) {
			throw new UsageError(`there is no terminal to ask on: give --${option} (see \`tracewatch setup --help\`)`)
		}
		const typed =
			given ?? (asker === null ? '' : await (isSecret ? asker.askHidden : asker.ask)(`${question}${shown}: `))
		try {
			const value = await choice.read(typed === '' ? (usual ?? '') : typed)
			const refusal = (await choice.try?.(value)) ?? null
			if (refusal === null) return value
			if (given !== undefined || asker === null) throw new TrialError(refusal)
			io.err(`  ${refusal.words}`)
			if (/^y(es)?$/i.test(await asker.ask('Use it anyway? [y/N]: '))) return value
		} catch (error) {
			io.signal.throwIfAborted()
			const words = error instanceof Error ? error.message : String(error)
			if (given !== undefined || asker === null) {
				if (error instanceof RangeError) throw new UsageError(`--${option}: it ${words}`)
				throw error
			}
			if (!(error instanceof Error)) throw error
			io.err(`  ${error instanceof RangeError ? 'it ' : ''}${words}`)
		}
	}
}
