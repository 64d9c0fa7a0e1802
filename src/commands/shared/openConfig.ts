/** The room holds what several commands share. This file: the configuration. */

import {
	type Config,
	findConfig,
	type LoadOptions,
	loadConfig,
	loadStateSettings,
	type StateSettings,
} from '../../config/load.js'
import type { CommandArgs, Io } from '../command.js'
import { whileWaiting } from './progress.js'

/**
 * Reads the configuration that `-c` names, or the default one. Its secrets are hidden in all output from then on.
 * Throws ConfigError.
 */
export async function openConfig({ values }: CommandArgs, io: Io, lastGood?: LoadOptions['lastGood']): Promise<Config> {
	const named = typeof values.config === 'string' ? values.config : undefined
	const onSecrets = (secrets: readonly string[]) => void io.scrubber.add(secrets)
	const options = { env: io.env, cwd: io.cwd, onSecrets, ...(lastGood && { lastGood }) }
	// Reading a million watches takes seconds.
	return await whileWaiting(
		() => 'reading the watchlists',
		() => loadConfig(findConfig(named, io.cwd), options),
	)
}

/**
 * Reads where the state is, for commands that need no other setting; they work without the service's secrets. Throws
 * ConfigError when the settings do not say where the state is.
 */
export async function openStateSettings({ values }: CommandArgs, io: Io): Promise<StateSettings> {
	const named = typeof values.config === 'string' ? values.config : undefined
	const settings = await loadStateSettings(findConfig(named, io.cwd), { env: io.env, cwd: io.cwd })
	io.scrubber.add(settings.secrets)
	return settings
}
