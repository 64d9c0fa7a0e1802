import type { Config } from '../../config/load.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { suggestion } from '../../config/words.js'
import { UsageError } from '../../errors.js'
import type { CommandArgs } from '../command.js'

/**
 * Throws UsageError when `name` is not configured. Filters of the state ask only when they found nothing, since it may
 * still hold entries of names that were configured earlier.
 */
export function needKnown(what: 'network' | 'receiver', name: unknown, known: readonly string[]): void {
	if (typeof name !== 'string' || known.includes(name)) return
	const names = known.map((one) => `\`${one}\``).join(', ')
	throw new UsageError(`there is no ${what} \`${name}\`${suggestion(name, known)}; there are: ${names}`)
}

/** The network that `--network` names. Without the option, the only network. */
export function networkOf({ values: { network: name } }: CommandArgs, config: Config): NetworkSettings {
	const [only, second] = config.networks
	if (name === undefined && only !== undefined && second === undefined) return only
	const known = config.networks.map((network) => network.name)
	needKnown('network', name, known)
	const found = config.networks.find((network) => network.name === name)
	if (found !== undefined) return found
	throw new UsageError(`say which --network: ${known.map((one) => `\`${one}\``).join(', ')}`)
}
