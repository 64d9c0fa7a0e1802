import { quoted } from '../../base/text/quoted.js'
import type { Config } from '../../config/load.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { suggestion } from '../../config/words.js'
import { UsageError } from '../../errors.js'
import type { CommandArgs } from '../command.js'

type What = 'network' | 'receiver'

/** The one of that name. Throws UsageError. */
export function named<T extends { readonly name: string }>(what: What, name: unknown, all: readonly T[]): T {
	const found = all.find((one) => one.name === name)
	if (found !== undefined) return found
	const known = all.map((one) => one.name)
	const names = known.map((one) => `\`${one}\``).join(', ')
	const shown = `${quoted(String(name))}${suggestion(String(name), known)}`
	throw new UsageError(`there is no ${what} ${shown}; there are: ${names}`)
}

/**
 * Throws UsageError when `name` is not configured. Filters of the state ask only when they found nothing, since it may
 * still hold entries of names that were configured earlier.
 */
export function needKnown(what: What, name: unknown, known: readonly string[]): void {
	const all = known.map((one) => ({ name: one }))
	// No names are known where the settings cannot be read.
	if (name !== undefined && all.length > 0) named(what, name, all)
}

/** The network that `--network` names. Without the option, the only network. */
export function networkOf({ values: { network: name } }: CommandArgs, { networks }: Config): NetworkSettings {
	const [only, second] = networks
	if (name !== undefined || only === undefined) return named('network', name, networks)
	if (second === undefined) return only
	throw new UsageError(`say which --network: ${networks.map((one) => `\`${one.name}\``).join(', ')}`)
}
