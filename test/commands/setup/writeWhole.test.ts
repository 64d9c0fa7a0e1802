import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeWhole } from '../../../src/commands/setup/writeWhole.js'
import { temporaryFolder } from '../../support/folder.js'

const modeOf = (path: string) => statSync(path).mode & 0o777

test.each([0o000, 0o077])('behavior: files and new folders get their modes, with the umask %i', async (mask) => {
	const folder = temporaryFolder()
	const before = process.umask(mask)
	onTestFinished(() => void process.umask(before))
	const path = join(folder, 'etc', 'lists', 'a.yaml')
	await writeWhole({ path, text: 'a', mode: 0o644, folderMode: 0o755 })
	await writeWhole({ path: join(folder, 'store', 'secret'), text: 'b', mode: 0o600, folderMode: 0o700 })
	expect(readFileSync(path, 'utf8')).toBe('a')
	const names = ['etc', 'etc/lists', 'etc/lists/a.yaml', 'store', 'store/secret']
	expect(names.map((name) => modeOf(join(folder, name)))).toEqual([0o755, 0o755, 0o644, 0o700, 0o600])
	// A folder that is there keeps its mode.
	await writeWhole({ path: join(folder, 'store', 'open'), text: 'c', mode: 0o644, folderMode: 0o755 })
	expect(modeOf(join(folder, 'store'))).toBe(0o700)
})
