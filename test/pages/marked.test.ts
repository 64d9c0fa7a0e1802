import { expect, test } from 'vitest'
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
	'behavior: what must not be overlooked is marked among the rest: %s',
	async (at) => {
		const origin = await servePages(() => pageFacts({ deliveries: async () => deliveries }))
		const text = await (await fetch(origin + at)).text()
		const marked = [...text.matchAll(/<span class="alarm">(\[ethereum\] [^<]*)/g)].map(([, words]) => words)
		expect(marked).toEqual([
			'[ethereum] STALLED: this network is not being watched at present',
			expect.stringMatching(/^\[ethereum\] UNEXPLAINED: the balance of &lt;b&gt; rose/),
			expect.stringMatching(/^\[ethereum\] LOOK-ALIKE: /),
			expect.stringMatching(/^\[ethereum\] RETRACTED: /),
		])
		expect(text).toContain('[ethereum] Recovered')
	},
)

function watchOf({ message }: typeof plain) {
	return 'watch' in message.data ? message.data.watch : { address: payer, tags: [], watchlist: 'a.yaml' }
}
