import { expect, test } from 'vitest'
import { createHealth, type HealthOptions } from '../../src/daemon/health.js'
import type { NetworkPoller } from '../../src/daemon/networkPoller.js'
import { StateError } from '../../src/errors.js'

const away = 'cannot reach the state in the database at db.example: the connection was refused: start it'
const network = { network: 'local', checkpoint: 7, head: 9, lastPollAt: null }
const counts = { pending: 0, held: 0, parked: 12, dead: 0, delivered: 1, lastDeliveredAtMs: null }

function healthWith(rest: Partial<HealthOptions>) {
	return createHealth({
		config: { receivers: [] },
		pollers: [],
		vitals: { networks: () => [{ ...network, ok: true, reason: null }] },
		summary: async () => ({ networks: new Map(), receivers: new Map([['hook', counts]]) }),
		isRefused: () => false,
		...rest,
	})()
}

test('behavior: a state that is away is one trouble, where a network says it too', async () => {
	const summary = () => Promise.reject(new StateError('lost', away))
	const alone = await healthWith({ summary })
	expect(alone.reasons).toEqual([`the state cannot be read: ${away}`])
	const reason = `local is not scanned: ${away}`
	const both = await healthWith({ summary, vitals: { networks: () => [{ ...network, ok: false, reason }] } })
	expect(both.reasons).toEqual([reason])
})

test('behavior: a wrong edit and a receiver that takes nothing say what to do', async () => {
	const hook = { name: 'hook', fallback: null }
	const { reasons } = await healthWith({ isRefused: () => true, config: { receivers: [hook as never] } })
	expect(reasons).toEqual([
		expect.stringMatching(
			/^hook takes nothing \(12 parked\) and has no `fallback`\. To do: `tracewatch deliveries` says/,
		),
		expect.stringMatching(/last good ones stay in effect\. To do: `tracewatch check` says what is wrong/),
	])
})

test('behavior: an endpoint that has failed from the start on is not well after a minute, stall or none', async () => {
	let nowMs = 1_000
	let lastDoneAtMs: number | null = null
	const failure = 'node.example.org did not answer eth_chainId: the connection was refused. To do: see whether it runs'
	let failingSinceMs: number | null = 1_000
	const status = () => ({ failure, failingSinceMs, lastDoneAtMs, lastResult: 'failed', backSinceMs: null })
	const poller = { name: 'local', status } as Partial<NetworkPoller> as NetworkPoller
	const health = createHealth({
		...{ config: { receivers: [] }, pollers: [poller], isRefused: () => false, steady: () => nowMs },
		vitals: { networks: () => [{ ...network, ok: true, reason: null }] },
		summary: async () => ({ networks: new Map(), receivers: new Map() }),
	})
	expect((await health()).ok).toBe(true)
	nowMs += 60_001
	expect((await health()).reasons).toEqual([`local is not scanned: ${failure}`])
	// It stood by until now.
	failingSinceMs = nowMs
	expect((await health()).ok).toBe(true)
	failingSinceMs = 1_000
	// It has worked before: that is for the stall to tell.
	lastDoneAtMs = 5_000
	expect((await health()).ok).toBe(true)
})
