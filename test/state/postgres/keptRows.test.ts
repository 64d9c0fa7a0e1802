import { afterAll, expect, test } from 'vitest'
import type { Trouble } from '../../../src/model/trouble.js'
import { copyWatchlists } from '../../../src/state/open.js'
import { openTroubles } from '../../../src/state/troubles.js'
import { silent } from '../../support/silent.js'
import { copiesOf } from '../copySets.js'
import { openPgStore } from './pgStore.js'
import { emptied, startServer } from './server.js'

const server = await startServer()
afterAll(() => server?.stop())

test.skipIf(server === null)(
	'default: what is wrong is kept beside the watchlists, and neither takes the other along',
	async () => {
		if (server === null) return
		await emptied(server)
		const place = { kind: 'postgres', url: server.url() } as const
		const trouble: Trouble = {
			...{ kind: 'stalled', network: 'ethereum', chainId: 1, sinceMs: 7, announced: true },
			...{ receivers: ['hook', 'gone'], checkpoint: '12345678901234567890' },
		}
		const first = await openTroubles(place, ['hook'], silent)
		expect(first.current().open).toEqual([])
		await first.change(() => ({ open: [trouble], timesAccepted: 3 }))
		await copyWatchlists(place, copiesOf(['a'], 'one'), null)
		await copyWatchlists(place, copiesOf(['b'], 'two'), null)
		const second = await openTroubles(place, ['hook'], silent)
		expect(second.current()).toEqual({ open: [{ ...trouble, receivers: ['hook'] }], timesAccepted: 3 })
	},
)

test.skipIf(server === null)('race: neither is written by an instance whose state another has taken over', async () => {
	if (server === null) return
	const place = { kind: 'postgres', url: await server.fresh('fenced') } as const
	const store = await openPgStore(place.url, { clock: Date.now, leaseMs: 300_000 })
	const fence = store.fence()
	const book = await openTroubles(place, ['hook'], silent, () => fence)
	await book.change(() => ({ open: [], timesAccepted: 1 }))
	await copyWatchlists(place, copiesOf(['a'], 'one'), fence)
	const kept = () => server.sql('select key, content from tracewatch.kept order by key', [], 'fenced')
	const before = await kept()
	expect(before).toHaveLength(3)
	await server.sql(`update tracewatch.head set owner = 'other', epoch = epoch + 1`, [], 'fenced')
	await expect(book.change(() => ({ open: [], timesAccepted: 2 }))).rejects.toMatchObject({ reason: 'lost' })
	await expect(copyWatchlists(place, copiesOf(['b'], 'two'), fence)).rejects.toMatchObject({ reason: 'lost' })
	expect(book.current().timesAccepted).toBe(1)
	expect(await kept()).toEqual(before)
	await store.close()
})
