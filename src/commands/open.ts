import {
	type Config,
	findConfig,
	type LoadOptions,
	loadConfig,
	loadStateSettings,
	type StateSettings,
} from '../config/load.js'
import type { CommandArgs, Io } from './command.js'
import { whileWaiting } from './progress.js'

/**
 * Reads the configuration that `-c` names, or the usual one; its secrets are hidden from then on. Throws ConfigError.
 */
export async function openConfig({ values }: CommandArgs, io: Io, lastGood?: LoadOptions['lastGood']): Promise<Config> {
	const named = typeof values.config === 'string' ? values.config : undefined
	const onSecrets = (secrets: readonly string[]) => void io.scrubber.add(secrets)
	const options = { env: io.env, cwd: io.cwd, onSecrets, ...(lastGood && { lastGood }) }
	// A million watches take seconds.
	return await whileWaiting('reading the watchlists', () => loadConfig(findConfig(named, io.cwd), options))
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
