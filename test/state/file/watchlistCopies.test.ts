import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readCopies, writeCopies } from '../../../src/state/file/watchlistCopies.js'
import { temporaryFolder } from '../../support/folder.js'
import { contentOf, copiesOf } from '../copySets.js'

const found = async (folder: string) => await contentOf(await readCopies(folder))
const inodes = (folder: string) =>
	Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).ino]))

test('default: the copies are plain; an edit copies only its file, and the same again writes nothing', async () => {
	const folder = temporaryFolder()
	const copies = join(folder, 'last-good')
	expect(await readCopies(folder)).toBeNull()
	const first = copiesOf(['network: a', 'network: b', 'network: b', '0x12,Größe'.repeat(50_000)], 'one')
	await writeCopies(folder, first)
	expect(await found(folder)).toEqual(await contentOf(first))
	expect(statSync(copies).mode & 0o777).toBe(0o700)
	const [plain = { digest: '' }] = first.files
	expect(readFileSync(join(copies, plain.digest), 'utf8')).toBe('network: a')
	expect(statSync(join(copies, plain.digest)).mode & 0o777).toBe(0o600)

	const before = inodes(copies)
	const chunks = () => expect.unreachable('nothing is to be read')
	await writeCopies(folder, { ...first, chunks })
	expect(inodes(copies)).toEqual(before)

	const second = copiesOf(['network: a', 'network: c', '0x12,Größe'.repeat(50_000)], 'two')
	await writeCopies(folder, second)
	expect(await found(folder)).toEqual(await contentOf(second))
	const after = inodes(copies)
	const kept = second.files.filter(({ digest }) => after[digest] === before[digest])
	expect(kept.map(({ path }) => path)).toEqual(['/etc/lists/0.yaml', '/etc/lists/2.yaml'])
	expect(Object.keys(after)).toHaveLength(3 + 2)
})

test('behavior: the same files in another order, or one less, are another revision', async () => {
	const folder = temporaryFolder()
	await writeCopies(folder, copiesOf(['a', 'b'], 'one'))
	const second = copiesOf(['b', 'a'], 'two')
	await writeCopies(folder, { ...second, chunks: () => expect.unreachable('both are copied already') })
	expect(await found(folder)).toEqual(await contentOf(second))
	await writeCopies(folder, copiesOf(['b'], 'three'))
	expect(await found(folder)).toMatchObject({ revision: 'three', texts: { '/etc/lists/0.yaml': 'b' } })
})

test('behavior: a file that changes while it is copied changes nothing', async () => {
	const folder = temporaryFolder()
	const first = copiesOf(['a', 'b'], 'one')
	const failing = {
		...copiesOf(['c', 'd'], 'two'),
		async *chunks() {
			yield Buffer.from('half')
			throw new RangeError('d.yaml has changed since it was read')
		},
	}
	await expect(writeCopies(folder, failing)).rejects.toThrow('has changed since it was read')
	expect(await readCopies(folder)).toBeNull()
	await writeCopies(folder, first)
	await expect(writeCopies(folder, failing)).rejects.toMatchObject({ reason: 'disk' })
	expect(await found(folder)).toEqual(await contentOf(first))
})

test('behavior: other files are left alone', async () => {
	const folder = temporaryFolder()
	const others = ['state.json', 'watchlists.yaml']
	for (const name of others) writeFileSync(join(folder, name), '')
	mkdirSync(join(folder, 'last-good'))
	writeFileSync(join(folder, 'last-good/notes.txt'), '')
	await writeCopies(folder, copiesOf(['a'], 'one'))
	expect(readdirSync(folder).toSorted()).toEqual([...others, 'last-good'].toSorted())
	expect(readdirSync(join(folder, 'last-good'))).toContain('notes.txt')
})

test('error: a damaged index is refused and written anew; a lost copy is copied again', async () => {
	const folder = temporaryFolder()
	const copies = copiesOf(['a', 'b'], 'one')
	await writeCopies(folder, copies)
	const index = join(folder, 'last-good/index.json')
	writeFileSync(index, readFileSync(index, 'utf8').replace('one', 'two'))
	await expect(readCopies(folder)).rejects.toMatchObject({ reason: 'damaged' })
	await writeCopies(folder, copies)
	expect(await found(folder)).toEqual(await contentOf(copies))
	rmSync(join(folder, 'last-good', copies.files[1]?.digest ?? ''))
	await expect(found(folder)).rejects.toMatchObject({ code: 'ENOENT' })
	await writeCopies(folder, copies)
	expect(await found(folder)).toEqual(await contentOf(copies))
})

test.skipIf(process.geteuid?.() === 0)('error: a folder that cannot be written is said', async () => {
	const folder = temporaryFolder()
	chmodSync(folder, 0o500)
	await expect(writeCopies(folder, copiesOf(['a'], 'one'))).rejects.toMatchObject({ reason: 'disk' })
	chmodSync(folder, 0o700)
})
