import type { Config } from '../../config/load.js'
import { StateError } from '../../errors.js'
import type { NetworkState } from '../../model/state.js'
import { peek } from '../../state/open.js'
import type { Io } from '../command.js'

/** What the daemon remembers of a network. A state that cannot be read is no obstacle: it is reported. */
export async function rememberedOf(
	{ statePlace }: Pick<Config, 'statePlace'>,
	{ name }: { readonly name: string },
	io: Pick<Io, 'err'>,
): Promise<NetworkState | undefined> {
	try {
		return (await peek(statePlace))?.whole.networks.get(name)
	} catch (error) {
		if (!(error instanceof StateError)) throw error
		io.err(`without what the daemon remembers: ${error.message}`)
		return undefined
	}
}
