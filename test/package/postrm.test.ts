/** The Debian package's last script, in a root of its own. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/folder.js'

const postrm = fileURLToPath(new URL('../../packaging/deb/postrm', import.meta.url))

test('default: a purge takes the state, leaves secrets and watchlists, and names them', () => {
	const root = temporaryFolder()
	const files = [
		'var/lib/private/tracewatch/state.json',
		'etc/tracewatch/secrets/RPC_URL',
		'etc/tracewatch/watchlists/a.yaml',
	]
	for (const file of files) {
		mkdirSync(dirname(join(root, file)), { recursive: true })
		writeFileSync(join(root, file), 'x')
	}
	const said = execFileSync('sh', [postrm, 'purge'], {
		env: { PATH: process.env.PATH, DPKG_ROOT: root },
		encoding: 'utf8',
	})
	expect(files.map((file) => existsSync(join(root, file)))).toEqual([false, true, true])
	expect(said.split('\n').slice(0, 2)).toEqual([
		'tracewatch: the secrets stay: /etc/tracewatch/secrets; to remove: sudo rm -r /etc/tracewatch/secrets',
		'tracewatch: the watchlists stay in /etc/tracewatch; to remove: sudo rm -r /etc/tracewatch',
	])
})
