/** The compose file of the container image works with the configuration beside it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/load.js'
import { temporaryFolder } from '../support/folder.js'

const packaging = fileURLToPath(new URL('../../packaging/image', import.meta.url))
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

test('default: the compose file runs this version, with the secrets that its configuration names', async () => {
	const { services, secrets } = parse(readFileSync(join(packaging, 'compose.yaml'), 'utf8'))
	const { version } = json(fileURLToPath(new URL('../../package.json', import.meta.url)))
	expect(services.tracewatch.image).toBe(`tracewatch:${version}`)
	const text = readFileSync(join(packaging, 'config/tracewatch.yaml'), 'utf8')
	const named = [...text.matchAll(/^[^#\n]*\$\{(\w+)\}/gm)].map(([, name]) => name)
	expect([...services.tracewatch.secrets].sort()).toEqual(named.sort())
	const used = [...services.tracewatch.secrets, ...services.database.secrets]
	expect(Object.keys(secrets).sort()).toEqual(used.sort())

	const folder = temporaryFolder()
	const values = {
		ETHEREUM_RPC_URL: 'https://node.example.org/evm',
		SMTP_URL: 'smtps://user:password@mail.example.org:465',
		HTTP_PASSWORD: 'a password of the pages',
		STATE_URL: 'postgres://tracewatch:password@database/tracewatch',
	}
	for (const [name, value] of Object.entries(values)) writeFileSync(join(folder, name), value)
	const env = { CREDENTIALS_DIRECTORY: folder }
	const config = await loadConfig(join(packaging, 'config/tracewatch.yaml'), { env, cwd: '/', onSecrets: () => {} })
	expect(config.watches.length).toBe(1)
	// The image's user may write nowhere else.
	expect(services.tracewatch.read_only).toBe(true)
})
