import { expect, test } from 'vitest'
import { StateError } from '../../src/errors.js'
import { pageFacts, servePages } from './facts.js'

test('error: of a state that cannot be read the overview says that numbers are not known, not 0', async () => {
	const away = async () => {
		throw new StateError('disk', 'cannot reach the state in the database at db.example.org')
	}
	const url = await servePages(() => pageFacts({ summary: away }))
	const { receivers } = (await (await fetch(`${url}/?format=json`)).json()) as { receivers: object[] }
	expect(receivers).toMatchObject([{ pending: null, held: null, parked: null, dead: null, delivered: null }])
	const row = /<section id="receivers"[\s\S]*<tbody>([\s\S]*?)<\/tbody>/.exec(await (await fetch(url)).text())?.[1]
	expect(row?.match(/not known/g)).toHaveLength(5)

	const read = await servePages(() => pageFacts())
	const { receivers: fresh } = (await (await fetch(`${read}/?format=json`)).json()) as { receivers: object[] }
	expect(fresh).toMatchObject([{ pending: 0, held: 0, parked: 0, dead: 0, delivered: 0 }])
})
