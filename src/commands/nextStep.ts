import { findConfig } from '../config/load.js'
import type { Io } from './command.js'
import { calledAs } from './shared/calledAs.js'

/** Suggests the next command, depending on whether there is a configuration. */
export function nextStep(io: Pick<Io, 'cwd' | 'env'>): readonly string[] {
	const program = calledAs(io.env)
	const path = configPath(io.cwd)
	if (path !== null) {
		return [
			`The configuration is ${path}. Next:`,
			`  ${program} check     whether it is right, and who is notified of what`,
			`  ${program} doctor    whether the endpoints can do what is needed`,
			`  ${program} status    whether a daemon runs and is well, and how far it has scanned`,
			...(path.startsWith('/etc/') ? ['  sudo tracewatch setup     where nothing is set up yet'] : []),
		]
	}
	return [
		'Nothing is configured here. Next:',
		`  ${program} watch ADDRESS --rpc URL    one address on the terminal, without any file`,
		program === 'tracewatch'
			? '  sudo tracewatch setup                 asks for endpoint, receiver and address, and starts the service'
			: `  ${program} setup --dir FOLDER         asks for endpoint, receiver and address, and writes the files`,
	]
}

function configPath(cwd: string): string | null {
	try {
		return findConfig(undefined, cwd)
	} catch {
		return null
	}
}
