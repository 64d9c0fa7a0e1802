// Folders that earlier versions wrote; 0.1.0 has a fixture of its own, see version010.test.ts.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../../src/model/glossary.js'
import { openFileStore } from '../../../../src/state/file/store.js'
import { readDocument } from '../../../../src/state/wholeState.js'
import { addressOf, announcementOf, blockOf, commitOf, deliveryOf } from '../../samples.js'
import { fileOf, makeFolder, removeFolder } from '../folder.js'

let root: string
const at = (name: string) => join(root, 'state', name)
const open = () => openFileStore(join(root, 'state'), { clock: () => 0 })
const packed = (...addresses: Address[]) =>
	Buffer.from(addresses.map((one) => one.slice(2)).join(''), 'hex').toString('base64')
const block = (number: number) => [String(number), blockOf(number).hash]

/** As version 2 of these files was: books in packed form, and which file of books counts. */
const { txHash, alerts } = announcementOf('t1', 95)
const state = {
	books: { id: '0123456789ab', bytes: 9, sum: 7, before: null, form: 2, sizes: { ethereum: 2 } },
	networks: {
		ethereum: {
			...{ chainId: 1, checkpoint: block(100), settled: block(90), updatedAtMs: 5, progress: { abc: '60' } },
			told: [{ id: 't1', block: block(95), txHash, alerts, turn: 1 }],
			packedBooks: ['AAAA'],
		},
	},
	totals: { hook: { delivered: 3, lastDeliveredAtMs: 4 } },
	deliveries: [deliveryOf('a')],
}
const coverage = {
	id: 'whole',
	networks: {
		ethereum: {
			backfills: [{ id: '50-100-x', token: 'abc', span: ['50', '100'], addresses: packed(addressOf(1), addressOf(2)) }],
			covered: [
				{ since: '101', from: '50', addresses: packed(addressOf(1), addressOf(2)) },
				{ since: '7', from: '7', leftAt: '90', missed: [['8', '9']], addresses: packed(addressOf(3)) },
			],
		},
	},
}
const changes = (id: string) => ({
	id,
	networks: {
		ethereum: {
			backfills: coverage.networks.ethereum.backfills,
			covered: [{ since: '111', from: '111', addresses: packed(addressOf(4)) }],
		},
	},
})

beforeEach(async () => {
	root = await makeFolder()
	await mkdir(join(root, 'state'))
	await writeFile(at('state.json'), fileOf(state, 2))
	await writeFile(at('coverage.json'), fileOf(coverage, 2))
	await writeFile(at('coverage.changes.json'), fileOf(changes('whole'), 2))
	await writeFile(at('books.0123456789ab.data'), 'packed')
})
afterEach(() => removeFolder(root))

async function found() {
	const store = await open()
	const network = await store.network('ethereum')
	const deliveries = await store.deliveries()
	const { receivers } = await store.summary()
	await store.close()
	return { network, covered: [...(network?.covered ?? [])], deliveries, delivered: receivers.get('hook')?.delivered }
}

test('default: all but packed books opens, and stays over the next start, which removes the old files', async () => {
	const before = await found()
	const twice = { since: 101n, from: 50n, leftAt: null, missed: [] }
	expect(before.covered).toEqual([
		[addressOf(1), twice],
		[addressOf(2), twice],
		[addressOf(3), { since: 7n, from: 7n, leftAt: 90n, missed: [{ from: 8n, to: 9n }] }],
		[addressOf(4), { since: 111n, from: 111n, leftAt: null, missed: [] }],
	])
	const addresses = [addressOf(1), addressOf(2)]
	expect(before.network?.backfills).toEqual([{ id: '50-100-x', span: { from: 60n, to: 100n }, addresses }])
	expect(before.network?.announcements.get('t1')).toMatchObject({ status: 'retracted', revision: 1 })
	expect([before.network?.books.size, before.deliveries, before.delivered]).toEqual([0, [deliveryOf('a')], 3])
	expect(JSON.parse(await readFile(at('state.json'), 'utf8')).v).toBe(3)
	expect(await found()).toEqual(before)
	expect((await readdir(join(root, 'state'))).sort()).toEqual(['journal.jsonl', 'state.json', 'state.json.prev'])
})

test('behavior: changes of another whole are passed over', async () => {
	await writeFile(at('coverage.changes.json'), fileOf(changes('other'), 2))
	expect((await found()).covered).toHaveLength(3)
})

test('behavior: killed before the first snapshot of this version, it opens again', async () => {
	await writeFile(at('journal.jsonl'), '{"v":1,"journal":"0123456789ab"}\n')
	await writeFile(at('state.json.tmp'), '{"v":3,"da')
	expect((await found()).covered).toHaveLength(4)
	const store = await open()
	await store.commit(commitOf({ checkpoint: blockOf(101) }))
	await store.close()
	expect((await found()).network?.checkpoint).toEqual(blockOf(101))
})

test.each([
	['coverage.json', 'missing', (path: string) => rm(path)],
	['coverage.json', 'damaged', (path: string) => writeFile(path, 'x')],
	['coverage.changes.json', 'damaged', (path: string) => writeFile(path, 'x')],
])('error: %s that is %s', async (file, _, spoil) => {
	await spoil(at(file))
	await expect(open()).rejects.toMatchObject({ reason: 'damaged', message: expect.stringContaining(at(file)) })
	expect(await readFile(at('state.json'), 'utf8')).toBe(fileOf(state, 2))
})

test('default: a document of an earlier version can be brought in', async () => {
	const whole = { state: { v: 2, data: state }, coverage: { v: 2, data: coverage } }
	await writeFile(join(root, 'export'), fileOf(whole, 2))
	const { state: read, coverage: covered } = await readDocument(join(root, 'export'))
	expect(read.networks.get('ethereum')?.checkpoint).toEqual(blockOf(100))
	expect(covered.get('ethereum')?.covered.size).toBe(3)
})
