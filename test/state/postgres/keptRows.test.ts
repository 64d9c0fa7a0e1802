import { afterAll, expect, test } from 'vitest'
import { copyWatchlists } from '../../../src/state/open.js'
import { copiesOf } from '../copySets.js'
import { openPgStore } from './pgStore.js'
import { startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

test.skipIf(server === null)(
	'race: watchlists are not written by an instance whose state another has taken over',
	async () => {
		if (server === null) return
		const place = { kind: 'postgres', url: await server.fresh('fenced') } as const
		const store = await openPgStore(place.url, { clock: Date.now, leaseMs: 300_000 })
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
