import { afterAll, expect, test } from 'vitest'
import type { Trouble } from '../../../src/model/trouble.js'
import { copyWatchlists } from '../../../src/state/open.js'
import { openTroubles } from '../../../src/state/troubles.js'
import { silent } from '../../support/silent.js'
import { copiesOf } from '../copySets.js'
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
		await copyWatchlists(place, copiesOf(['a'], 'one'))
		await copyWatchlists(place, copiesOf(['b'], 'two'))
		const second = await openTroubles(place, ['hook'], silent)
		expect(second.current()).toEqual({ open: [{ ...trouble, receivers: ['hook'] }], timesAccepted: 3 })
	},
)
