import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore, peek } from '../../src/state/open.js'
import { FORMAT } from '../../src/state/stateFormat.js'
import { copyState } from '../../src/state/wholeState.js'
import { temporaryFolder } from '../support/folder.js'
import { fileOf } from './file/folder.js'
import { blockOf, commitOf } from './samples.js'

const clock = () => 0
const snapshot = (format: number) => fileOf(null, format, '[\n{"snapshot":"ab","before":null}\n]')
const journal = (format: number) => `{"v":${format},"journal":"ab"}\n`

test.each([
	['an earlier snapshot and journal', { 'state.json': snapshot(3), 'journal.jsonl': journal(1) }, 3],
	['one object with coverage beside it', { 'state.json': fileOf({}, 1), 'coverage.json': fileOf({}, 1) }, 1],
	['coverage alone', { 'coverage.json': fileOf({}, 2) }, 2],
	['an earlier journal alone', { 'journal.jsonl': journal(1) }, 1],
	['the copy of an earlier snapshot alone', { 'state.json.prev': snapshot(3) }, 3],
	['a later snapshot', { 'state.json': snapshot(FORMAT + 1), 'journal.jsonl': journal(FORMAT + 1) }, FORMAT + 1],
	['a later journal', { 'state.json': snapshot(FORMAT), 'journal.jsonl': journal(FORMAT + 1) }, FORMAT + 1],
	['a later segment', { 'journal.000001.jsonl': `{"v":${FORMAT + 1},"after":0}\n` }, FORMAT + 1],
	['a damaged snapshot of another version', { 'state.json': '{"v":3,"data":[', 'journal.jsonl': journal(1) }, 3],
])('state of another version is refused and left alone: %s', async (_, files, format) => {
	const dir = join(temporaryFolder(), 'state')
	mkdirSync(dir)
	for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
	const place = { kind: 'folder', dir } as const
	const other = { kind: 'folder', dir: join(temporaryFolder(), 'other') } as const
	const store = await openStore(other, { clock })
	await store.commit(commitOf({ checkpoint: blockOf(1) }))
	await store.close()
	const contents = () =>
		Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]))
	for (const act of [
		() => openStore(place, { clock }),
		() => peek(place),
		() => copyState(other, place),
		() => copyState(place, { kind: 'folder', dir: join(dir, 'new') }),
	]) {
		const message = expect.stringContaining(
			`another version of tracewatch (format ${format}, this one reads ${FORMAT})`,
		)
		await expect(act()).rejects.toMatchObject({ reason: 'format', message })
		expect(contents()).toEqual(files)
	}
})
