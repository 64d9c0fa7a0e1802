import { afterAll, expect, test } from 'vitest'
import { copyWatchlists, openWatchlistCopies } from '../../../src/state/open.js'
import { standingClock } from '../../support/standingClock.js'
import { contentOf, copiesOf } from '../copySets.js'
import { openPgStore } from './pgStore.js'
import { startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

test.skipIf(server === null)(
	'race: watchlists are not written by an instance whose state another has taken over',
	async () => {
		if (server === null) return
		const place = { kind: 'postgres', url: await server.fresh('fenced') } as const
		const store = await openPgStore(place.url, { clock: standingClock, leaseMs: 300_000 })
		const fence = store.fence()
		await copyWatchlists(place, copiesOf(['a'], 'one'), fence)
		const kept = () => server.sql('select key, content from tracewatch.kept order by key', [], 'fenced')
		const before = await kept()
		expect(before).toHaveLength(2)
		await server.sql(`update tracewatch.head set owner = 'other', epoch = epoch + 1`, [], 'fenced')
		await expect(copyWatchlists(place, copiesOf(['b'], 'two'), fence)).rejects.toMatchObject({ reason: 'lost' })
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
		const long = '0x12,Größe'.repeat(50_000)
		const sets = [copiesOf(['a', 'b', 'b', long], 'one'), copiesOf(['a', 'c', long], 'two')] as const
		const rows = () =>
			server.sql<{ key: string; at: string }>('select key, xmin as at from tracewatch.kept', [], 'edited')
		await copyWatchlists(place, sets[0], null)
		expect(await found()).toEqual(await contentOf(sets[0]))
		const before = await rows()
		await copyWatchlists(place, { ...sets[0], chunks: () => expect.unreachable('nothing is to be read') }, null)
		expect(await rows()).toEqual(before)
		await copyWatchlists(place, sets[1], null)
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
	await copyWatchlists(place('eu'), one, null)
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
	const copying = copyWatchlists(place('us'), { ...endless, chunks }, null)
	await isBegun
	const next = copiesOf(['c'], 'next')
	await copyWatchlists(place('eu'), next, null).finally(end)
	await copying
	expect(await contentOf(await openWatchlistCopies(place('eu')))).toEqual(await contentOf(next))
	expect(await contentOf(await openWatchlistCopies(place('us')))).toEqual(await contentOf(endless))
})
