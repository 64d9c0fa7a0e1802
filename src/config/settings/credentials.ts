/** Where the secrets of the service are, for who runs a command beside it; in the unit systemd hands them over. */

import { join } from 'node:path'

/** `tracewatch`, or of `tracewatch@a`, whose settings are in /etc/tracewatch/a: `tracewatch.a`. */
export function credentialPrefix(settingsPath: string): string {
	const instance = instanceOf(settingsPath)
	return instance === null ? 'tracewatch' : `tracewatch.${instance}`
}

/** Of the units shipped, the one that reads these settings. */
export function unitOf(settingsPath: string): string {
	const instance = instanceOf(settingsPath)
	return instance === null ? 'tracewatch.service' : `tracewatch@${instance}.service`
}

/** Where the units shipped take a credential from: a file for root alone. */
export function credentialPath(name: string, env: NodeJS.ProcessEnv, settingsPath = ''): string {
	return join(env.TRACEWATCH_CREDSTORE ?? '/etc/credstore', `${credentialPrefix(settingsPath)}.${name}`)
}

/** Where systemd keeps what it has handed to a service that runs, wherever it took it from; for root alone. */
export function handedPath(name: string, env: NodeJS.ProcessEnv, settingsPath: string): string {
	return join(env.TRACEWATCH_RUN_CREDENTIALS ?? '/run/credentials', unitOf(settingsPath), name)
}

function instanceOf(settingsPath: string): string | null {
	return /^\/etc\/tracewatch\/([\w.@:-]+)\/[^/]+$/.exec(settingsPath)?.[1] ?? null
}
