/**
 * Where commands find the secrets of the service when they are run outside its unit. Inside the unit, systemd passes
 * them in $CREDENTIALS_DIRECTORY.
 */

import { join } from 'node:path'

/** `tracewatch`; for the instance `tracewatch@a`, whose settings are in /etc/tracewatch/a, `tracewatch.a`. */
export function credentialPrefix(settingsPath: string): string {
	const instance = instanceOf(settingsPath)
	return instance === null ? 'tracewatch' : `tracewatch.${instance}`
}

/** The name of the shipped unit that reads these settings. */
export function unitOf(settingsPath: string): string {
	const instance = instanceOf(settingsPath)
	return instance === null ? 'tracewatch.service' : `tracewatch@${instance}.service`
}

/** The file from which the shipped units load a credential. Only root can read it. */
export function credentialPath(name: string, env: NodeJS.ProcessEnv, settingsPath = ''): string {
	return join(env.TRACEWATCH_CREDSTORE ?? '/etc/credstore', `${credentialPrefix(settingsPath)}.${name}`)
}

/** The file in which systemd stores a credential of a running service, whatever its source. Only root can read it. */
export function handedPath(name: string, env: NodeJS.ProcessEnv, settingsPath: string): string {
	return join(env.TRACEWATCH_RUN_CREDENTIALS ?? '/run/credentials', unitOf(settingsPath), name)
}

function instanceOf(settingsPath: string): string | null {
	return /^\/etc\/tracewatch\/([\w.@:-]+)\/[^/]+$/.exec(settingsPath)?.[1] ?? null
}
