import {
	type Config,
	findConfig,
	type LoadOptions,
	loadConfig,
	loadStateSettings,
	type StateSettings,
} from '../config/load.js'
import type { Log } from '../model/ports.js'
import { createLog, isJournal, type LogLevel } from '../ops/log.js'
import type { CommandArgs, Io } from './command.js'

/**
 * Reads the configuration that `-c` names, or the usual one; its secrets are hidden from then on. Throws ConfigError.
 */
export async function openConfig({ values }: CommandArgs, io: Io, lastGood?: LoadOptions['lastGood']): Promise<Config> {
	const named = typeof values.config === 'string' ? values.config : undefined
	const onSecrets = (secrets: readonly string[]) => void io.scrubber.add(secrets)
	return await loadConfig(findConfig(named, io.cwd), {
		...{ env: io.env, cwd: io.cwd, onSecrets },
		...(lastGood && { lastGood }),
	})
}

/**
 * Where the state is, for the commands that need nothing else: they work without the service's secrets. Throws
 * ConfigError when the settings do not say where the state is.
 */
export async function openStateSettings({ values }: CommandArgs, io: Io): Promise<StateSettings> {
	const named = typeof values.config === 'string' ? values.config : undefined
	const settings = await loadStateSettings(findConfig(named, io.cwd), { env: io.env, cwd: io.cwd })
	io.scrubber.add(settings.secrets)
	return settings
}

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
