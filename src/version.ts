import { readFileSync } from 'node:fs'

/** Where package.json is. This file is as deep in `src` as its bundle is in `dist`. */
export const packageRoot = new URL('..', import.meta.url)

/** The version in package.json. */
export const version: string = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')).version

/** The message for a version of Node that is too old to load the program; null when it is supported. */
export function nodeRefusal(nodeVersion: string): string | null {
	const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
	if (major > 20 || (major === 20 && minor >= 19)) return null
	return (
		`tracewatch needs Node 20.19 or newer, and this is Node ${nodeVersion}: ` +
		'install a newer one (README.md says how)'
	)
}
