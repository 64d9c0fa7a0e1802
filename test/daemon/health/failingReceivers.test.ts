import { expect, test } from 'vitest'
import { createFailingReceivers } from '../../../src/daemon/health/failingReceivers.js'
import { createHealth } from '../../../src/daemon/health/health.js'
import type { Outcome } from '../../../src/model/delivery.js'
import type { ReceiverSummary, StateSummary } from '../../../src/model/state.js'

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

test('default: a receiver that is down for five minutes is not well: since when, why, what to do', async () => {
	const { failing, health, pass } = watched()
	failing.attempted('mail', down)
	pass(3)
	failing.attempted('mail', down)
	expect(await health()).toMatchObject({ ok: true, status: 'ok' })
	pass(2)
	expect(await health()).toMatchObject({
		ok: false,
		status: 'undelivered',
		reason:
			'mail has accepted no message since 2027-01-15T08:00:00.000Z (3 wait): ' +
			'mail.example.org: the connection was refused. ' +
			'To do: see whether it runs and can be reached; what waits is retried without your help',
	})
	failing.attempted('mail', { result: 'delivered' })
	expect((await health()).ok).toBe(true)
	failing.attempted('mail', down)
	pass(4)
	expect((await health()).ok).toBe(true)
})

test('behavior: a receiver whose deliveries are set aside or gone does not count as down', async () => {
	for (const rest of [{ pending: 2, aside: 2 }, { pending: 0 }]) {
		const { failing, health, pass } = watched(rest)
		failing.attempted('mail', down)
		pass(60)
		expect((await health()).ok).toBe(true)
	}
})

test('behavior: many attempts show it sooner, and those of an earlier run show it after a restart', async () => {
	const { failing, health } = watched({ failedAttempts: 20 })
	expect((await health()).reason).toMatch(/^mail failed at each of its last 20 attempts \(3 wait\)\. To do: /)
	failing.attempted('mail', down)
	expect((await health()).reason).toMatch(/^mail has accepted no message since .* \(3 wait\): mail\.example\.org: /)
	expect((await watched({ failedAttempts: 5 }).health()).ok).toBe(true)
	expect((await watched({ failedAttempts: 6 }).health()).ok).toBe(false)
})
