import { suggestion } from '../../config/words.js'
import type { Log } from '../../model/ports.js'
import { createLog, isJournal, type LogLevel } from '../../ops/log.js'
import type { Io } from '../command.js'

/**
 * The log of a command: readable lines on a terminal, text with priorities in the journal unless LOG_FORMAT is json. A
 * command whose output is its result logs to standard error (2), and only warnings unless LOG_LEVEL says otherwise.
 */
export function openLog(io: Io, destination: 1 | 2 = 1): Log {
	const named = io.env.LOG_LEVEL || (destination === 1 ? 'info' : 'warn')
	const level = levels.find((one) => one === named)
	const words = `LOG_LEVEL is not a level: using info. Write one of ${levels.join(', ')}`
	if (level === undefined) io.err(`warning: ${words}${suggestion(named, levels)}`)
	return createLog({
		level: level ?? 'info',
		scrubber: io.scrubber,
		destination,
		pretty: io.isTty,
		journal: isJournal(destination, io.env),
		json: io.env.LOG_FORMAT === 'json',
	})
}

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]
