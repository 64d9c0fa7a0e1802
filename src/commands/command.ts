/**
 * The room has a file for each command, thin: what it says of itself, its options, and what it does with the other
 * rooms.
 */

import type { ParseArgsConfig } from 'node:util'
import type { Scrubber } from '../ops/scrub.js'

/** What the program ends with; as sysexits.h has it where it has one. */
export const exitCodes = {
	done: 0,
	failed: 1,
	usage: 2,
	/** An endpoint or a receiver failed for now; nothing is lost. */
	tryAgain: 75,
	/** The configuration is wrong. */
	config: 78,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The outside world as a command sees it; tests bring their own. */
export interface Io {
	/**
	 * Writes one line (a newline is added) for the user or for a pipe. `end`: default a line feed. `isMarked`: what
	 * begins with it is said to be UTF-8, see `bom.ts`.
	 */
	out(line: string, end?: '\n' | '\r\n', isMarked?: boolean): void
	/** Writes one line beside the result: progress, warnings, problems. */
	err(line: string): void
	readonly env: NodeJS.ProcessEnv
	readonly cwd: string
	/** Whether a person looks at the output. */
	readonly isTty: boolean
	/** Aborts on SIGTERM and SIGINT. */
	readonly signal: AbortSignal
	/** Texts that no line written by `out` and `err` may hold from now on. */
	readonly scrubber: Scrubber
}

export interface CommandArgs {
	readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
	readonly positionals: readonly string[]
}

/** One command: a file of its own, thin. Errors are thrown; the door turns them into words and exit codes. */
export interface Command {
	readonly name: string
	/** One line for the list of commands. */
	readonly summary: string
	/** What `--help` prints: usage line, what it does, each option with its unit and default, exit codes that matter. */
	readonly help: string
	/** Besides `--help`; `--config` is declared by those that read a configuration. */
	readonly options: NonNullable<ParseArgsConfig['options']>
	/** How many positional arguments it takes, both ends included. */
	readonly positionals: readonly [least: number, most: number]
	run(args: CommandArgs, io: Io): Promise<ExitCode>
}

/** `-c`, for the commands that read a configuration. */
export const configOption = { config: { type: 'string', short: 'c' } } as const
