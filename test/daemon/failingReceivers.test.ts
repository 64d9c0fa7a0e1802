import { expect, test } from 'vitest'
import { createFailingReceivers } from '../../src/daemon/failingReceivers.js'
import { createHealth } from '../../src/daemon/health.js'
import type { Outcome } from '../../src/model/delivery.js'
import type { ReceiverSummary, StateSummary } from '../../src/model/state.js'

const minute = 60_000
const down: Outcome = { result: 'retry', code: 'no-answer', reason: 'mail.example.org: the connection was refused' }

function watched(rest: Partial<ReceiverSummary> = {}) {
	let nowMs = 1_800_000_000_000
	const clock = () => nowMs
	const failing = createFailingReceivers(clock, clock)
	const counts = { pending: 3, held: 0, parked: 0, dead: 0, delivered: 1, lastDeliveredAtMs: null, ...rest }
	const summary: StateSummary = { networks: new Map(), receivers: new Map([['mail', counts]]) }
	const health = createHealth({
		config: { receivers: [] },
		pollers: [],
		vitals: { networks: () => [] },
		summary: async () => summary,
		isRefused: () => false,
		failing,
	})
	return { failing, health, pass: (minutes: number) => (nowMs += minutes * minute) }
}

test('default: a receiver that is down for a quarter of an hour is not well: since when, why, what to do', async () => {
	const { failing, health, pass } = watched()
	failing.attempted('mail', down)
	pass(10)
	failing.attempted('mail', down)
	expect((await health()).ok).toBe(true)
	pass(5)
	expect(await health()).toMatchObject({
		ok: false,
		reason:
			'mail has taken nothing since 2027-01-15T08:00:00.000Z (3 wait): mail.example.org: the connection was refused. ' +
			'To do: see whether it runs; what waits is tried again by itself',
	})
	failing.attempted('mail', { result: 'delivered' })
	expect((await health()).ok).toBe(true)
	failing.attempted('mail', down)
	pass(14)
	expect((await health()).ok).toBe(true)
})

test('behavior: what is set aside, or gone, is no receiver that is down', async () => {
	for (const rest of [{ pending: 2, aside: 2 }, { pending: 0 }]) {
		const { failing, health, pass } = watched(rest)
		failing.attempted('mail', down)
		pass(60)
		expect((await health()).ok).toBe(true)
	}
})
