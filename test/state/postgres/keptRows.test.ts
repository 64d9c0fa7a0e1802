import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../../src/model/ports.js'
import { openWatchlistCopies } from '../../../src/state/open.js'
import { standingClock } from '../../support/standingClock.js'
import { contentOf, copiesOf } from '../copySets.js'
import { openPgStore } from './pgStore.js'
import { startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

/** Of an instance that has the state. */
async function opened(url: string): Promise<Store> {
	const store = await openPgStore(url, { clock: standingClock, leaseMs: 300_000 })
	onTestFinished(() => store.close())
	return store
}

test.skipIf(server === null)(
	'race: watchlists are not written by an instance whose state another has taken over',
	async () => {
		if (server === null) return
		const place = { kind: 'postgres', url: await server.fresh('fenced') } as const
		const store = await openPgStore(place.url, { clock: standingClock, leaseMs: 300_000 })
		await store.keepWatchlists(copiesOf(['a'], 'one'))
		const kept = () => server.sql('select key, content from tracewatch.kept order by key', [], 'fenced')
		const before = await kept()
		expect(before).toHaveLength(2)
		await server.sql(`update tracewatch.head set owner = 'other', epoch = epoch + 1`, [], 'fenced')
		await expect(store.keepWatchlists(copiesOf(['b'], 'two'))).rejects.toMatchObject({ reason: 'lost' })
		expect(await kept()).toEqual(before)
		await store.close()
	},
)

test.skipIf(server === null)(
	'default: an edit writes only the rows of its file, and removes those of old ones',
	async () => {
		if (server === null) return
		const place = { kind: 'postgres', url: await server.fresh('edited') } as const
		const found = async () => await contentOf(await openWatchlistCopies(place))
		expect(await found()).toBeNull()
		const store = await opened(place.url)
		const long = '0x12,Größe'.repeat(50_000)
		const sets = [copiesOf(['a', 'b', 'b', long], 'one'), copiesOf(['a', 'c', long], 'two')] as const
		const rows = () =>
			server.sql<{ key: string; at: string }>('select key, xmin as at from tracewatch.kept', [], 'edited')
		await store.keepWatchlists(sets[0])
		expect(await found()).toEqual(await contentOf(sets[0]))
		const before = await rows()
		await store.keepWatchlists({ ...sets[0], chunks: () => expect.unreachable('nothing is to be read') })
		expect(await rows()).toEqual(before)
		await store.keepWatchlists(sets[1])
		expect(await found()).toEqual(await contentOf(sets[1]))
		const after = await rows()
		const old = (key: string) => before.some((row) => row.key === key)
		const written = (list: typeof after) =>
			list.filter(({ key, at }) => !before.some((row) => row.key === key && row.at === at))
		expect(written(after).map(({ key }) => key.split(' ')[0])).toEqual(expect.arrayContaining(['copies', 'copy']))
		expect(written(after)).toHaveLength(2)
		expect(after.filter(({ key }) => old(key))).toHaveLength(before.length - 1)
	},
)

test.skipIf(server === null)('behavior: a copy of watchlists does not wait for that of another name', async () => {
	if (server === null) return
	const url = await server.fresh('neighbours')
	const place = (name: string) => ({ kind: 'postgres', url: `${url}?name=${name}` }) as const
	const one = copiesOf(['a'], 'one')
	const endless = copiesOf(['b'], 'endless')
	const [eu, us] = [await opened(place('eu').url), await opened(place('us').url)]
	await eu.keepWatchlists(one)
	let begun = () => {}
	const isBegun = new Promise<void>((resolve) => {
		begun = resolve
	})
	let end = () => {}
	const isOver = new Promise<void>((resolve) => {
		end = resolve
	})
	async function* chunks(path: string) {
		begun()
		await isOver
		yield* endless.chunks(path)
	}
	const copying = us.keepWatchlists({ ...endless, chunks })
	await isBegun
	const next = copiesOf(['c'], 'next')
	await eu.keepWatchlists(next).finally(end)
	await copying
	expect(await contentOf(await openWatchlistCopies(place('eu')))).toEqual(await contentOf(next))
	expect(await contentOf(await openWatchlistCopies(place('us')))).toEqual(await contentOf(endless))
})

test.skipIf(server === null)('behavior: the text of an interrupted copy does not stay', async () => {
	if (server === null) return
	const place = { kind: 'postgres', url: await server.fresh('halved') } as const
	const store = await opened(place.url)
	const copies = copiesOf(['a'.repeat(90_000)], 'one')
	async function* chunks() {
		for (const text of ['another', 'text', 'in', 'pieces']) yield Buffer.from(text)
		throw new Error('the file has changed')
	}
	await expect(store.keepWatchlists({ ...copies, chunks })).rejects.toThrow('the file has changed')
	await store.keepWatchlists(copies)
	expect(await contentOf(await openWatchlistCopies(place))).toEqual(await contentOf(copies))
})

test.skipIf(server === null)('behavior: a file that is no UTF-8 any more is said to have changed', async () => {
	if (server === null) return
	const store = await opened(await server.fresh('latin'))
	async function* chunks() {
		yield Buffer.from('Größe', 'latin1')
		throw new RangeError('a.yaml has changed since it was read')
	}
	await expect(store.keepWatchlists({ ...copiesOf(['Größe'], 'one'), chunks })).rejects.toThrow('has changed')
})
