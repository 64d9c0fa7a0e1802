import type { Log } from '../model/ports.js'
import { createLog, isJournal, type LogLevel } from '../ops/log.js'
import type { Io } from './command.js'

/**
 * The log of a command: pretty for a person, with priorities for the journal. A command whose output is its result logs
 * beside it (2), and warnings only, unless LOG_LEVEL asks for more.
 */
export function openLog(io: Io, destination: 1 | 2 = 1): Log {
	return createLog({
		level: readLevel(io.env.LOG_LEVEL ?? (destination === 1 ? 'info' : 'warn')),
		scrubber: io.scrubber,
		destination,
		pretty: io.isTty,
		journal: isJournal(destination, io.env),
	})
}

function readLevel(text: string | undefined): LogLevel {
	return text === 'debug' || text === 'warn' || text === 'error' ? text : 'info'
}
