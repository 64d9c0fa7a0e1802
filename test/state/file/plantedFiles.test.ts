/** Files that somebody else laid into the folder of the state while he could. */

import { execFileSync } from 'node:child_process'
import { chown, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openFileStore } from '../../../src/state/file/store.js'
import { blockOf, commitOf } from '../samples.js'
import { fillFolder, makeFolder, removeFolder } from './folder.js'

let root: string
const at = (name: string) => join(root, 'state', name)
const open = () => openFileStore(join(root, 'state'), { clock: () => 0 })

beforeEach(async () => {
	root = await makeFolder()
	await fillFolder(join(root, 'state'))
})

afterEach(() => removeFolder(root))

test.each(['state.json.tmp', 'state.json.prev'])(
	'behavior: a link named %s has no other file overwritten',
	async (name) => {
		const precious = join(root, 'precious')
		await writeFile(precious, 'precious')
		const store = await open()
		await rm(at(name), { force: true })
		await symlink(precious, at(name))
		await store.commit(commitOf({ checkpoint: blockOf(3) }))
		await store.close()
		expect(await readFile(precious, 'utf8')).toBe('precious')
		expect(JSON.parse(await readFile(at('state.json'), 'utf8')).v).toBe(1)
	},
)

test('error: a state that is a link is not read', async () => {
	await writeFile(join(root, 'other'), await readFile(at('state.json')))
	await unlink(at('state.json'))
	await symlink(join(root, 'other'), at('state.json'))
	await expect(open()).rejects.toMatchObject({ reason: 'disk', message: expect.stringContaining('it is a link') })
})

test('error: a pipe in its place holds nothing up', async () => {
	await unlink(at('state.json'))
	execFileSync('mkfifo', [at('state.json')])
	await expect(open()).rejects.toMatchObject({ reason: 'disk', message: expect.stringContaining('no plain file') })
}, 5_000)

test.runIf(process.getuid?.() === 0)('error: a state that another user wrote is not believed', async () => {
	await chown(at('state.json'), 65_534, 65_534)
	await expect(open()).rejects.toMatchObject({
		reason: 'disk',
		message: expect.stringContaining('another user (65534)'),
	})
})
