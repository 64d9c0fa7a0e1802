import type { Config } from '../config/load.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { UsageError } from '../errors.js'
import type { CommandArgs } from './command.js'

/** The network that `--network` names; the only one, when there is one and none is named. */
export function networkOf({ values: { network: name } }: CommandArgs, config: Config): NetworkSettings {
	const [only, second] = config.networks
	if (name === undefined && only !== undefined && second === undefined) return only
	const found = config.networks.find((network) => network.name === name)
	if (found !== undefined) return found
	const names = config.networks.map((network) => `\`${network.name}\``).join(', ')
	throw new UsageError(
		name === undefined
			? `say which --network: ${names}`
			: `there is no network \`${String(name)}\`; there are: ${names}`,
	)
}
