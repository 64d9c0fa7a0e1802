import { findConfig, loadConfig } from '../config/load.js'
import { ConfigError, type Problem } from '../errors.js'
import { askHealth } from '../ops/controlSocket.js'
import type { Io } from './command.js'
import { calledAs } from './shared/calledAs.js'
import { whileWaiting } from './shared/progress.js'

/**
 * Suggests the next command, depending on what is found: no configuration, one with problems, a stopped or a running
 * daemon. Never throws.
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
	const program = calledAs(io.env)
	const isInstalled = program === 'tracewatch'
	if (path === null) {
		return [
			'Nothing is configured here. Next:',
			`  ${program} watch ADDRESS --rpc URL    one address on the terminal, without any file`,
			isInstalled
				? '  sudo tracewatch setup                 asks for endpoint, receiver and address, and starts the service'
				: `  ${program} setup --dir FOLDER         asks for endpoint, receiver and address, and writes the files`,
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
				`  ${program} doctor       whether the endpoints can do what is needed`,
				`  ${program} run          the daemon in the foreground; under systemd, \`systemctl start tracewatch\``,
			]
		}
		if (health.ok) return [`A daemon runs here and is well. Next: \`tracewatch status\`.`]
		return [`A daemon runs here and is NOT WELL: ${health.reason}. Next: \`tracewatch status\`.`]
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		const notSetUp = adviceOfService(path, error.problems)
		if (notSetUp !== null) return [notSetUp]
		const [first] = error.message.split('\n')
		const more = error.problems.length === 1 ? '' : ` (and ${error.problems.length - 1} more)`
		return [`The configuration is wrong: ${first}${more}. Next: \`tracewatch check\`.`]
	}
}

/**
 * Advice for the configuration that the package installs, when its secrets are missing or readable by root only. Null:
 * it has other problems.
 */
export function adviceOfService(path: string, problems: readonly Pick<Problem, 'message'>[]): string | null {
	if (!path.startsWith('/etc/')) return null
	if (problems.some(({ message }) => /permission denied/.test(message)))
		return 'The configuration of the service is for root alone. Next: `sudo tracewatch status`.'
	if (!problems.every(({ message }) => / is not set: /.test(message))) return null
	return 'tracewatch is installed and not set up yet. Next: `sudo tracewatch setup`.'
}

function configPath(io: Io): string | null {
	try {
		return findConfig(undefined, io.cwd)
	} catch {
		return null
	}
}
