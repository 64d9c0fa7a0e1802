// State that another version of the program wrote: every command refuses it and says what to do.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fileOf } from '../state/file/folder.js'
import { startServer } from '../state/postgres/server.js'
import { inProcess, settings, siteOf, treasury, watchlist } from './site.js'

const server = await startServer()
afterAll(() => server?.stop())

const commands = [['run'], ['once'], ['status'], ['deliveries'], ['deliveries', 'retry', '--all'], ['gaps']]

/** No node answers and no receiver listens: the program never gets that far. */
const siteWith = (state: string, files: Readonly<Record<string, string>> = {}) =>
	inProcess(
		siteOf({
			'tracewatch.yaml': `${settings('http://127.0.0.1:9', { hook: 'http://127.0.0.1:9' })}state: ${state}\n`,
			'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
			...files,
		}),
	)

const remedy = (home: 'folder' | 'database') =>
	`nothing was changed: keep it, and name a new ${home} in \`state\`` +
	`${home === 'folder' ? ' (a systemd service: one below its old folder)' : ''}; watching then starts at the head, ` +
	'and `from_block` of a watch fetches what is missing'

test('a folder that another version wrote is refused with 78 by each command, and stays as it is', async () => {
	const snapshot = '[\n{"snapshot":"0123456789ab","before":null}\n]'
	const here = siteWith('state', {
		'state/state.json': fileOf(null, 3, snapshot),
		'state/journal.jsonl': '{"v":1,"journal":"0123456789ab"}\n',
	})
	const folder = join(here.folder, 'state')
	const contents = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')])
	const before = contents()
	for (const command of commands) {
		const { code, stderr } = await here.run(command)
		expect({ command, code }).toEqual({ command, code: 78 })
		expect(stderr).toContain('state.json holds state of another version of tracewatch (format 3,')
		expect(stderr).toContain(remedy('folder'))
		expect(contents()).toEqual(before)
	}
})

test.skipIf(server === null)('a database that another version wrote: the same', async () => {
	const url = (await server?.fresh('other')) ?? ''
	const sql = async (text: string) => await server?.sql(text, [], 'other')
	await sql(`create schema tracewatch; create table tracewatch.version (version int not null);
		insert into tracewatch.version values (16); create table tracewatch.told (network text not null, id text not null)`)
	const contents = async () => [
		await sql(`select tablename from pg_tables where schemaname = 'tracewatch' order by 1`),
		await sql('select version from tracewatch.version'),
	]
	const before = await contents()
	const here = siteWith(['$', '{DATABASE_URL}'].join(''))
	for (const command of commands) {
		const { code, stderr } = await here.run(command, { DATABASE_URL: url })
		expect({ command, code }).toEqual({ command, code: 78 })
		expect(stderr).toMatch(/the database at 127\.0\.0\.1:\d+ holds state of another version of tracewatch \(format 16,/)
		expect(stderr).toContain(remedy('database'))
		expect(await contents()).toEqual(before)
	}
})
