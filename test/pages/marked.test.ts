import { expect, test } from 'vitest'
import { StateError } from '../../src/errors.js'
import { alertDeliveryOf, deliveryOf, messageOf, payer, removalOf, systemData } from '../notify/samples.js'
import { pageFacts, servePages } from './facts.js'

const plain = alertDeliveryOf(1)
const deliveries = [
	plain,
	removalOf(2, plain),
	alertDeliveryOf(3, {}, { lookalike: { of: payer, label: null, prefix: 4, suffix: 4 } }),
	alertDeliveryOf(4, {}, { kind: 'unexplained', frameType: 'balance', watch: { ...watchOf(plain), label: '<b>' } }),
	deliveryOf(5, { message: messageOf(systemData(), 'system.stalled') }),
	deliveryOf(6, { message: messageOf(systemData(), 'system.recovered') }),
]

test.each(['/alerts', '/deliveries'])(
	'behavior: alerts that must not be overlooked are marked among the rest: %s',
	async (at) => {
		const origin = await servePages(() => pageFacts({ deliveries: async () => deliveries }))
		const text = await (await fetch(origin + at)).text()
		const marked = [...text.matchAll(/<span class="alarm">(.*?)<\/span>/g)].map(([, words]) =>
			words?.replaceAll(/<[^>]*>/g, ''),
		)
		expect(marked).toEqual([
			'[ethereum] STALLED: this network is not being watched at present',
			expect.stringMatching(/^\[ethereum\] UNEXPLAINED: the balance of &lt;b&gt; rose/),
			expect.stringMatching(/^\[ethereum\] LOOK-ALIKE: /),
			expect.stringMatching(/^\[ethereum\] RETRACTED: /),
		])
		expect(text).toContain('[ethereum] Recovered')
	},
)

test('behavior: an alert that only the state shows does not list its watch as a recipient', async () => {
	const found = { kind: 'unexplained', frameType: 'balance', direction: 'out', from: null } as const
	const rows = { plain, found: alertDeliveryOf(7, {}, found) }
	const parties = await Promise.all(
		Object.values(rows).map(async (row) => {
			const origin = await servePages(() => pageFacts({ deliveries: async () => [row] }))
			const text = await (await fetch(`${origin}/alerts`)).text()
			return [...text.matchAll(/<dt>(From|To)<\/dt>/g)].map(([, name]) => name)
		}),
	)
	expect(parties).toEqual([['From', 'To'], []])
})

function watchOf({ message }: typeof plain) {
	return 'watch' in message.data ? message.data.watch : { address: payer, tags: [], watchlist: 'a.yaml' }
}

test.each(['/alerts', '/deliveries'])(
	'error: a state that is away is said in words, and not as a fault: %s',
	async (at) => {
		const reason = 'cannot reach the state in the database at db<1>: start it'
		const deliveries = () => Promise.reject(new StateError('disk', reason))
		const health = async () => ({ ok: false, reason, networks: [] })
		const origin = await servePages(() => pageFacts({ deliveries, health }))
		const answer = await fetch(origin + at)
		expect(answer.status).toBe(503)
		const text = await answer.text()
		expect(text).toContain('This cannot be shown now: cannot reach the state in the database at db&lt;1&gt;: start it.')
		expect(text).toContain('class="health not-watching"')
		const json = await fetch(`${origin}${at}?format=json`)
		expect([json.status, await json.json()]).toEqual([503, { error: reason }])
	},
)
