// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeConfig } from '../../../src/config/describe.js'
import { loadConfig, loadStateSettings, readStatePlace } from '../../../src/config/load.js'
import { createScrubber } from '../../../src/ops/scrub.js'
import { temporaryFolder } from '../../support/folder.js'

let folder: string

beforeEach(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
	const watchlist = `network: base\nreceivers: [hook]\nwatches: [{address: 0x${'1'.repeat(40)}}]\n`
	writeFileSync(join(folder, 'watchlists/a.yaml'), watchlist)
})

/** A small right configuration with these lines after it. */
function load(lines: string) {
	const minimal = `networks:
  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"]}
receivers:
  - {name: hook, type: webhook, url: "http://127.0.0.1:9000"}
`
	writeFileSync(join(folder, 'tracewatch.yaml'), `${minimal}${lines}\n`)
	return loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
}

describe('state', () => {
	test.each([
		[
			'state: postgres://tw:PASS%2FWORD@db.example.org:5433/tracewatch',
			'the database tracewatch at db.example.org:5433',
		],
		['state: "postgresql:///watch?host=/run/postgresql"', 'the database watch at /run/postgresql'],
		[
			'state: postgres://db/w?sslmode=require&channel_binding=require&connect_timeout=10&options=-c%20x%3Dy&name=eu',
			'the database w at db',
		],
		[
			'state: postgres://db/w?sslkey=k&sslcrl=c&dbname=w&connection_limit=1&pool_timeout=9&schema=x&name=eu',
			'the database w at db',
		],
	])('%s is a database', async (line, words) => {
		const config = await load(line)
		expect(config.statePlace).toEqual({ kind: 'postgres', url: /postgres[^"]*/.exec(line)?.[0] })
		const shown = describeConfig(config, folder).join('\n')
		expect(shown).toContain(`state in ${words}`)
		const scrubber = createScrubber()
		scrubber.add(config.secrets)
		expect(scrubber.clean('PASS%2FWORD, PASS/WORD')).toBe(
			line.includes('PASS') ? '[secret], [secret]' : 'PASS%2FWORD, PASS/WORD',
		)
		expect(scrubber.clean('tracewatch is running')).toBe('tracewatch is running')
	})

	test.each([
		[
			'state: mysql://db/tracewatch',
			'`state` must begin with postgres:// or postgresql://; mysql:// is not supported here',
		],
		['state: postgres://tw:CANARY@db', '`state` must name a database, such as postgres://user:password@host/database'],
		['state: postgres://db/w?name=eu&name=us', '`state` must have one `name=`, the name of this program in it'],
		[
			'state: postgres://tw:CANARY@db.example.org/w?sslmod=verify-full',
			'`state` has a parameter after its ? that is misspelt; did you mean sslmode?',
		],
		...['bogus', 'Verify-Full', ''].map((mode) => [
			`state: postgres://tw:CANARY@db/w?sslmode=${mode}`,
			'`state` has an `sslmode=` that does not exist: write verify-full, or disable for a connection without TLS',
		]),
		[
			'state: postgres://tw:CANARY@db/w?sslmode=require&nam=eu',
			'`state` has a parameter after its ? that is misspelt; did you mean name?',
		],
	])('%s is refused', async (line, message) => {
		const refused = await load(line).catch((error: unknown) => error)
		expect(refused).toMatchObject({ message: `tracewatch.yaml:5:${line.indexOf(' ') + 2}: ${message}` })
	})
})

test('behavior: a state that the command line names by ${NAME} finds the secret beside the configuration', () => {
	mkdirSync(join(folder, 'secrets'))
	writeFileSync(join(folder, 'secrets/DATABASE_URL'), 'postgres://tw:PASSWORD@db.example.org/tracewatch\n')
	const { add, clean } = createScrubber()
	const elsewhere = { env: {}, cwd: join(folder, 'watchlists'), onSecrets: add }
	const url = 'postgres://tw:PASSWORD@db.example.org/tracewatch'
	expect(readStatePlace('${DATABASE_URL}', '../tracewatch.yaml', elsewhere)).toEqual({ kind: 'postgres', url })
	expect(clean('PASSWORD of tw')).toBe('[secret] of tw')
})

test('error: a state whose variable is missing is not known: no command takes another place for it', async () => {
	await load('state: state')
	const path = join(folder, 'tracewatch.yaml')
	writeFileSync(path, readFileSync(path, 'utf8').replace('state: state', 'state: "${STATE_URL}"'))
	await expect(loadStateSettings(path, { env: {}, cwd: folder })).rejects.toThrow(
		/^tracewatch\.yaml:5:8: \$\{STATE_URL\} is not set: write it to /,
	)
})
