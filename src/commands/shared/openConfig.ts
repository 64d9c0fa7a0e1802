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

/** How a command reads its configuration: secrets are hidden in all output from then on. */
export function readingOf({ env, cwd, scrubber }: Io): LoadOptions {
	return { env, cwd, onSecrets: scrubber.add }
}

/** Reads the configuration that `-c` names, or the default one. Throws ConfigError. */
export async function openConfig({ values }: CommandArgs, io: Io, lastGood?: LoadOptions['lastGood']): Promise<Config> {
	const options = { ...readingOf(io), ...(lastGood && { lastGood }) }
	// Reading a million watches takes seconds.
	return await whileWaiting(
		() => 'reading the watchlists',
		() => loadConfig(findConfig(values.config, io.cwd), options),
	)
}

/**
 * Reads where the state is, for commands that need no other setting; they work without the service's secrets. Throws
 * ConfigError when the settings do not say where the state is.
 */
export async function openStateSettings({ values }: CommandArgs, io: Io): Promise<StateSettings> {
	return await loadStateSettings(findConfig(values.config, io.cwd), readingOf(io))
}
