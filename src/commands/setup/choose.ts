/** One question of `setup`: where its answer comes from, and that it is asked until it is right. */

import type { ReceiverSettings } from '../../config/settings/settings.js'
import { PlainError, UsageError } from '../../errors.js'
import type { Asker } from '../ask.js'
import type { CommandArgs, Io } from '../command.js'

/** Secrets by the names that stand for them. */
export type Secrets = ReadonlyMap<string, string>

/** Where answers come from: options, then the environment, then a person, then what there was. */
export interface Sources {
	readonly values: CommandArgs['values']
	readonly io: Io
	/** Null: nobody can be asked. */
	readonly asker: Asker | null
	/** A secret that was written before; null: none. */
	stored(name: string): string | null
	/** What was set up before; null: nothing, or nothing of ours. */
	readonly receiver: ReceiverSettings | null
}

interface Choice<T> {
	/** Name of the option that gives it. */
	readonly option: string
	/** Default: what the option says. */
	readonly given?: string | undefined
	readonly fromEnv?: string | undefined
	/** Taken for Enter alone, and where nobody can be asked. */
	readonly before: string | null
	/** What Enter means, shown in brackets. */
	readonly usual?: string | undefined
	readonly question: string
	readonly isSecret?: boolean
	/** Throws RangeError whose message completes "it …", or PlainError or RpcError for what was tried in vain. */
	read(text: string): T | Promise<T>
}

/** Asks until the answer is right; what was given on the command line is right or an error. */
export async function choose<T>({ values, io, asker }: Sources, choice: Choice<T>): Promise<T> {
	const { option, before, usual, question, isSecret = false } = choice
	const value = values[option]
	const given = choice.given ?? (typeof value === 'string' ? value : undefined) ?? choice.fromEnv
	const shown = usual === undefined ? (before === null ? '' : ' [Enter keeps what there is]') : ` [${usual}]`
	for (;;) {
		if (given === undefined && asker === null && before === null) {
			throw new UsageError(`nobody can be asked here: give --${option} (see \`tracewatch setup --help\`)`)
		}
		const typed =
			given ?? (asker === null ? '' : await (isSecret ? asker.askHidden : asker.ask)(`${question}${shown}: `))
		const text = typed === '' ? (before ?? usual ?? '') : typed
		try {
			return await choice.read(text)
		} catch (error) {
			io.signal.throwIfAborted()
			const words = error instanceof Error ? error.message : String(error)
			if (given !== undefined || asker === null) {
				if (error instanceof RangeError) throw new UsageError(`--${option}: it ${words}`)
				throw error
			}
			if (!(error instanceof RangeError || error instanceof PlainError || error instanceof Error)) throw error
			io.err(`  ${error instanceof RangeError ? 'it ' : ''}${words}`)
		}
	}
}
