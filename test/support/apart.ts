/** Linux namespaces of a test's own: root may make them, and others where the system lets them be root in one. */

import { spawnSync } from 'node:child_process'
import { notProved } from './notProved.js'

const isRoot = process.getuid?.() === 0

/** What starts a program in such namespaces (`net`, `mount`); null, with a loud word, where that is not allowed. */
export function apart(what: string, ...spaces: readonly string[]): readonly string[] | null {
	const by = ['unshare', ...(isRoot ? [] : ['--user', '--map-root-user']), ...spaces.map((space) => `--${space}`)]
	const [program = '', ...args] = [...by, 'true']
	if (spawnSync(program, args).status === 0) return by
	notProved(`${what}: ${by.join(' ')} is not allowed`)
	return null
}
