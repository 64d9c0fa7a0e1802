import { findConfig, loadConfig } from '../config/load.js'
import { ConfigError } from '../errors.js'
import { askHealth } from '../ops/control.js'
import type { Io } from './command.js'
import { whileWaiting } from './progress.js'

/**
 * What to do next, for what is found here: no configuration, a wrong one, a daemon that is stopped or runs. Never
 * throws.
 */
export async function nextStep(io: Io): Promise<readonly string[]> {
	try {
		return await look(io)
	} catch {
		return ['Next: `tracewatch check` says what is wrong here.']
	}
}

async function look(io: Io): Promise<readonly string[]> {
	const path = configPath(io)
	if (path === null) {
		return [
			'Nothing is configured here. Next:',
			'  tracewatch demo                       the main job in half a minute, all on this machine',
			'  tracewatch watch ADDRESS --rpc URL    one address on the terminal, without any file',
			'  sudo tracewatch setup                 asks for endpoint, receiver and address, and starts the service',
			'  tracewatch init                       a starter configuration, to edit',
		]
	}
	const onSecrets = (secrets: readonly string[]) => void io.scrubber.add(secrets)
	try {
		const load = () => loadConfig(path, { env: io.env, cwd: io.cwd, onSecrets })
		const { statePlace, watches } = await whileWaiting('reading the watchlists', load)
		const what = `${path} is right and watches ${watches.length} ${watches.length === 1 ? 'address' : 'addresses'}`
		if (statePlace.kind !== 'folder') return [`${what}. Next: \`tracewatch status\`.`]
		const health = await askHealth(statePlace.dir).catch(() => null)
		if (health === null) {
			return [
				`${what}, and no daemon runs. Next:`,
				'  tracewatch doctor       whether the endpoints can do what is needed',
				'  tracewatch run          the daemon in the foreground; under systemd, `systemctl start tracewatch`',
			]
		}
		if (health.ok) return [`A daemon runs here and is well. Next: \`tracewatch status\`.`]
		return [`A daemon runs here and is NOT WELL: ${health.reason}. Next: \`tracewatch status\`.`]
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		const [first] = error.message.split('\n')
		const more = error.problems.length === 1 ? '' : ` (and ${error.problems.length - 1} more)`
		return [`The configuration is wrong: ${first}${more}. Next: \`tracewatch check\`.`]
	}
}

function configPath(io: Io): string | null {
	try {
		return findConfig(undefined, io.cwd)
	} catch {
		return null
	}
}
