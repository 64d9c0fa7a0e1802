/**
 * The room is what operators see and hold: the log (here), the scrubber of secrets, metrics, HTTP, the service manager,
 * the control socket.
 */

import { fstatSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import type { prettyFactory } from 'pino-pretty'
import { isJson } from '../base/isJson.js'
import { fitText } from '../base/outgoing.js'
import type { Log } from '../model/ports.js'
import { plainFacts } from './logFacts.js'
import type { Scrubber } from './scrub.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogOptions {
	/** Lines below are not written. Default: `info`. */
	readonly level?: LogLevel
	/** Takes the secrets out of each line, whoever wrote it. */
	readonly scrubber: Pick<Scrubber, 'clean'>
	/** A file descriptor, or anything with `write`. Default: 1, standard output. */
	readonly destination?: number | DestinationStream
	/** For the eyes of a person instead of one JSON object a line. */
	readonly pretty: boolean
	/** Whether the journal reads the lines: each then begins with its priority (`<4>`), as sd-daemon(3) has it. */
	readonly journal: boolean
}

/** The journal cuts a line in two after 48 KiB; nothing that long was ever read by anyone. */
const longestLine = 16_384

/** One JSON line an event, written at once: the last line before a crash is the one that matters. */
export function createLog({ level = 'info', scrubber, destination = 1, pretty, journal }: LogOptions): Log {
	// The form alone, not the package's stream: nothing is buffered, and no worker outlives the program.
	const form = pretty ? prettyForm() : null
	const finish = (line: string) => {
		const safe = withoutEscapes(fitText(clean(line, scrubber)))
		if (form !== null) return form(safe)
		return journal ? `${priority(safe)}${safe}` : safe
	}
	return narrow(
		pino(
			{
				level,
				base: null,
				timestamp: stdTimeFunctions.isoTime,
				formatters: { level: (label) => ({ level: label }), log: plainFacts },
				// The formatter has made plain data of every error already.
				serializers: { err: (error) => error },
				hooks: { streamWrite: finish },
			},
			typeof destination === 'number' ? pino.destination({ fd: destination, sync: true }) : destination,
		),
	)
}

/** Loaded only where a person reads: a service starts sooner without. */
function prettyForm(): (line: string) => string {
	const pretty: { prettyFactory: typeof prettyFactory } = createRequire(import.meta.url)('pino-pretty')
	return pretty.prettyFactory({ singleLine: true })
}

/**
 * Whether what is written to this file descriptor goes to the journal; systemd names that stream in the environment.
 */
export function isJournal(fd: number, env: NodeJS.ProcessEnv): boolean {
	const { JOURNAL_STREAM: stream } = env
	if (stream === undefined) return false
	try {
		const { dev, ino } = fstatSync(fd, { bigint: true })
		return stream === `${dev}:${ino}`
	} catch {
		return false
	}
}

/** Only what the rooms use, so that nothing comes to depend on the library. */
function narrow(logger: Logger): Log {
	return {
		debug: (facts, message) => logger.debug(facts, message),
		info: (facts, message) => logger.info(facts, message),
		warn: (facts, message) => logger.warn(facts, message),
		error: (facts, message) => logger.error(facts, message),
		child: (facts) => narrow(logger.child(plainFacts(facts))),
	}
}

/** The line without secrets, still one JSON object, and of a bearable length. */
function clean(line: string, { clean }: Pick<Scrubber, 'clean'>): string {
	const cleaned = clean(line)
	const whole =
		cleaned === line || isJson(cleaned) ? cleaned : `${JSON.stringify(cleanValue(JSON.parse(line), clean))}\n`
	if (whole.length <= longestLine) return whole
	const { level, time, msg } = JSON.parse(whole)
	return `${JSON.stringify({ level, time, msg: String(msg).slice(0, 1000), cutFromCharacters: whole.length })}\n`
}

/** For a secret that looks like a part of JSON (digits, a quote): value by value it cannot break the line. */
function cleanValue(value: unknown, clean: (text: string) => string): unknown {
	if (Array.isArray(value)) return value.map((item) => cleanValue(item, clean))
	if (typeof value === 'object' && value !== null)
		return Object.fromEntries(Object.entries(value).map(([name, item]) => [clean(name), cleanValue(item, clean)]))
	if (typeof value === 'string') return clean(value)
	return clean(String(value)) === String(value) ? value : clean(String(value))
}

/** JSON keeps controls escaped, but what shows a line to a person does not: a label could paint or clear the screen. */
function withoutEscapes(line: string): string {
	return line.replace(/(\\\\)|\\u(?:00[0189][0-9a-f]|007f|d[89a-f][0-9a-f]{2})|\\[bfr]/gi, '$1')
}

function priority(line: string): string {
	const label = /^\{"level":"(\w+)"/.exec(line)?.[1]
	return label === 'error' ? '<3>' : label === 'warn' ? '<4>' : label === 'debug' ? '<7>' : '<6>'
}
