/** Files that someone else laid into the folder of the state while he could. */

import { execFileSync } from 'node:child_process'
import { chown, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { apart } from '../../support/apart.js'
import { openFileStore } from '../../support/fileStore.js'
import { startChildBy } from '../child.js'
import { deliveryOf } from '../samples.js'
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
		const store = await openFileStore(join(root, 'state'), { clock: () => 0, leastJournalBytes: 1 })
		await rm(at(name), { force: true })
		await symlink(precious, at(name))
		const { ino } = await stat(at('state.json'))
		await store.post([deliveryOf('z', { lastError: 'x'.repeat(9_000) })])
		await store.close()
		expect((await stat(at('state.json'))).ino).not.toBe(ino)
		expect(await readFile(precious, 'utf8')).toBe('precious')
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
})

test('error: a state that another user wrote is not believed', async (here) => {
	const path = at('state.json')
	if (process.getuid?.() === 0) {
		await chown(path, 65_534, 65_534)
		return await expect(open()).rejects.toMatchObject({
			reason: 'disk',
			message: expect.stringContaining('another user (65534)'),
		})
	}
	// Who is no root cannot give a file away; but where he may be one among his own, what is root's is another's.
	const by = apart('that a state of another user is not believed', 'mount')
	if (by === null) return here.skip()
	const planted = ['sh', '-c', 'mount --bind /etc/passwd "$0" && exec "$@"', path]
	const child = startChildBy([...by, ...planted], 'opener.ts', join(root, 'state'))
	expect(await child.line()).toMatch(/^disk: .*another user \(65534\)/)
})
