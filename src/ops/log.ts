/**
 * The room `ops` holds what operators work with: the log (this file), the scrubber of secrets, metrics, HTTP, the
 * service manager, the control socket.
 */

import { fstatSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import type { prettyFactory } from 'pino-pretty'
import { isJson } from '../base/text/isJson.js'
import { fitText } from '../base/text/outgoing.js'
import type { Log } from '../model/ports.js'
import { plainFacts } from './logFacts.js'
import type { Scrubber } from './scrub.js'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LogOptions {
	/** Lines below this level are not written. Default: `info`. */
	readonly level?: LogLevel
	/** Hides secrets in each line. */
	readonly scrubber: Pick<Scrubber, 'clean'>
	/** A file descriptor, or an object with `write`. Default: 1, standard output. */
	readonly destination?: number | DestinationStream
	/** Readable lines for a terminal instead of one JSON object a line. */
	readonly pretty: boolean
	/**
	 * Whether the journal reads the lines: each line then begins with its priority (`<4>`), as sd-daemon(3) specifies,
	 * and is text without a time, which the journal has itself.
	 */
	readonly journal: boolean
	/** JSON in the journal, too. Default: false. */
	readonly json?: boolean
}

/** In characters. The journal splits lines longer than 48 KiB. */
const longestLine = 16_384

/** Lines beyond this are dropped while none can be written. */
const mostWaitingBytes = 1 << 20

/** One JSON line for each event, written synchronously, so that the last line before a crash is not lost. */
export function createLog({ level = 'info', scrubber, destination = 1, ...options }: LogOptions): Log {
	const { pretty, journal, json = false } = options
	// Uses only the package's formatter and not its stream: nothing is buffered, and no worker outlives the program.
	const form = pretty ? prettyForm() : null
	const finish = (line: string) => {
		const safe = withoutEscapes(fitText(clean(line, scrubber)))
		if (form !== null) return form(safe)
		return journal ? `${priority(safe)}${json ? safe : textOf(safe)}` : safe
	}
	return narrow(
		pino(
			{
				level,
				base: null,
				timestamp: stdTimeFunctions.isoTime,
				formatters: { level: (label) => ({ level: label }), log: plainFacts },
				// `plainFacts` has already turned errors into plain data.
				serializers: { err: (error) => error },
				hooks: { streamWrite: finish },
			},
			typeof destination === 'number' ? linesTo(destination) : destination,
		),
	)
}

/** What cannot be written, as on a full disk, waits for the next line and ends nothing: the watch goes on unlogged. */
function linesTo(fd: number): DestinationStream {
	return pino.destination({ fd, sync: true, maxLength: mostWaitingBytes }).on('error', () => undefined)
}

/** Loaded only when needed, so that a service starts faster. */
function prettyForm(): (line: string) => string {
	const pretty: { prettyFactory: typeof prettyFactory } = createRequire(import.meta.url)('pino-pretty')
	return pretty.prettyFactory({ singleLine: true })
}

/** Whether this file descriptor is connected to the journal. systemd names that stream in the environment. */
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

/** Exposes only the methods of `Log`, so that other rooms do not depend on the library. */
function narrow(logger: Logger): Log {
	return {
		debug: (facts, message) => logger.debug(facts, message),
		info: (facts, message) => logger.info(facts, message),
		warn: (facts, message) => logger.warn(facts, message),
		error: (facts, message) => logger.error(facts, message),
		child: (facts) => narrow(logger.child(plainFacts(facts))),
	}
}

/** Hides secrets in the line. The result is still one JSON object; it is shortened to `longestLine`. */
function clean(line: string, { clean }: Pick<Scrubber, 'clean'>): string {
	const cleaned = clean(line)
	const whole =
		cleaned === line || isJson(cleaned) ? cleaned : `${JSON.stringify(cleanValue(JSON.parse(line), clean))}\n`
	if (whole.length <= longestLine) return whole
	const { level, time, msg } = JSON.parse(whole)
	return `${JSON.stringify({ level, time, msg: String(msg).slice(0, 1000), cutFromCharacters: whole.length })}\n`
}

/** Cleans value by value, for secrets that look like JSON syntax (digits, a quote) and would break the line. */
function cleanValue(value: unknown, clean: (text: string) => string): unknown {
	if (Array.isArray(value)) return value.map((item) => cleanValue(item, clean))
	if (typeof value === 'object' && value !== null)
		return Object.fromEntries(Object.entries(value).map(([name, item]) => [clean(name), cleanValue(item, clean)]))
	if (typeof value === 'string') return clean(value)
	return clean(String(value)) === String(value) ? value : clean(String(value))
}

/**
 * Removes JSON-escaped control characters: the readable format unescapes them, and a label could then clear the screen.
 */
function withoutEscapes(line: string): string {
	return line.replace(/(\\\\)|\\u(?:00[0189][0-9a-f]|007f|d[89a-f][0-9a-f]{2})|\\[bfr]/gi, '$1')
}

/** `message network=ethereum blocks=3`, on one line; a value with spaces is in quotes. */
function textOf(line: string): string {
	const { level: _, time: __, msg, ...facts } = JSON.parse(line) as Readonly<Record<string, unknown>>
	const words = Object.entries(facts).map(([name, value]) => `${name}=${valueInText(value)}`)
	return `${[msg, ...words].join(' ').replaceAll(/[\n\r\t\u2028\u2029]/g, ' ')}\n`
}

function valueInText(value: unknown): string {
	return typeof value === 'string' && /^[\w.:/@,+-]+$/.test(value) ? value : JSON.stringify(value)
}

function priority(line: string): string {
	const label = /^\{"level":"(\w+)"/.exec(line)?.[1]
	return label === 'error' ? '<3>' : label === 'warn' ? '<4>' : label === 'debug' ? '<7>' : '<6>'
}
