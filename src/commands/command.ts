/**
 * The room `commands` has one thin file for each command: its help, its options, and the calls that it makes to other
 * rooms.
 */

import type { ParseArgsConfig } from 'node:util'
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
	readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
	readonly positionals: readonly string[]
}

/** One command. It throws errors; `main.ts` turns them into messages and exit codes. */
export interface Command {
	readonly name: string
	/** One line for the list of commands in `--help`. */
	readonly summary: string
	/**
	 * The text of `--help`: usage line, what the command does, each option with its unit and default, exit codes that
	 * matter.
	 */
	readonly help: string
	/** Options besides `--help`. Commands that read a configuration declare `--config`. */
	readonly options: NonNullable<ParseArgsConfig['options']>
	/** Number of positional arguments, both ends included. */
	readonly positionals: readonly [least: number, most: number]
	run(args: CommandArgs, io: Io): Promise<ExitCode>
}

/** `-c`, for the commands that read a configuration. */
export const configOption = { config: { type: 'string', short: 'c' } } as const
