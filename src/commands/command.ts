/**
 * The room `commands` has one thin file for each command: its help, its options, and the calls that it makes to other
 * rooms.
 */

import { type Command as Declaration, InvalidArgumentError } from 'commander'
import type { Scrubber } from '../ops/scrub.js'

/** Exit codes of the program, those of sysexits.h where it has one. */
export const exitCodes = {
	done: 0,
	failed: 1,
	usage: 2,
	/** An endpoint or a receiver failed temporarily; nothing is lost. */
	tryAgain: 75,
	/** The configuration is wrong. */
	config: 78,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A command's access to the outside world. Tests provide their own. */
export interface Io {
	/** Writes one line to standard output. */
	out(line: string): void
	/** Writes one line to standard error: progress, warnings, problems. */
	err(line: string): void
	readonly env: NodeJS.ProcessEnv
	readonly cwd: string
	/** Whether the output goes to a terminal. */
	readonly isTty: boolean
	/** Aborts on SIGTERM and SIGINT. */
	readonly signal: AbortSignal
	/** Removes secrets from every line that `out` and `err` write. */
	readonly scrubber: Scrubber
}

export interface CommandArgs {
	/** By the option's long name in camel case, as commander has read them. */
	readonly values: Readonly<Record<string, unknown>> & { readonly config?: string }
	readonly positionals: readonly string[]
}

/** One command. It throws errors; `commandLine.ts` turns them into messages and exit codes. */
export interface Command {
	/** Adds description, arguments and options. */
	declare(command: Declaration): Declaration
	run(args: CommandArgs, io: Io): Promise<ExitCode>
}

/** `-c`, for the commands that read a configuration. */
export const configOption = [
	'-c, --config <file>',
	'the configuration (default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml)',
] as const

/** A description: each paragraph becomes one line, which commander wraps at the width of the terminal. */
export function paragraphs(text: string): string {
	return text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ')
}

/** Of an option or argument: reads its text by a function that throws errors whose message completes "it …". */
export function readBy<T>(read: (text: string) => T): (text: string) => T {
	return (text) => {
		try {
			return read(text)
		} catch (error) {
			throw new InvalidArgumentError(`it ${error instanceof Error ? error.message : error}`)
		}
	}
}

/** The same of an option that may be repeated. */
export function readEachBy<T>(read: (text: string) => T): (text: string, before?: readonly T[]) => readonly T[] {
	const one = readBy(read)
	return (text, before = []) => [...before, one(text)]
}
