// The status line that systemd shows: of what is so now, also when nothing can be read.
import { afterEach, expect, test, vi } from 'vitest'
import { type ServiceOptions, startService } from '../../src/daemon/supervision.js'
import { StateError } from '../../src/errors.js'
import { startHookServer } from '../support/hookServer.js'
import { silent } from '../support/silent.js'

afterEach(() => {
	vi.useRealTimers()
})

const well = { ok: true, reason: null, networks: [{ network: 'local', checkpoint: 11 }] }
const away = 'local is not scanned: the state in the database cannot be reached'

async function start(pending: () => number, heartbeatUrl: string | null = null) {
	vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
	const said: string[] = []
	const closers: (() => unknown)[] = []
	let health: object = well
	const options = {
		config: { http: null, heartbeatUrl, networks: [{ stallAfterMs: null }] },
		pollers: [],
		vitals: { check: async () => {} },
		notifier: { isOn: true, watchdogMs: null, status: (text: string) => void said.push(text) },
		summary: async () => ({ receivers: new Map([['hook', { pending: pending() }]]) }),
		log: silent,
		closers: { add: (close: () => unknown) => void closers.push(close) },
		health: async () => health,
	}
	startService(options as unknown as ServiceOptions)
	return {
		said,
		turn: (now: object, ms = 5_000) => {
			health = now
			return vi.advanceTimersByTimeAsync(ms)
		},
		close: () => {
			for (const close of closers) close()
		},
	}
}

test('behavior: a state that cannot be read is said, and the line of before does not stand for it', async () => {
	let pending = (): number => 1
	const service = await start(() => pending())
	await service.turn(well)
	expect(service.said).toEqual(['local at 11; 1 delivery pending'])
	pending = () => {
		throw new StateError('disk', 'the database is away')
	}
	await service.turn({ ...well, ok: false, reason: away })
	expect(service.said.at(-1)).toBe(`${away}. local at 11; deliveries not known`)
	pending = () => 0
	await service.turn(well)
	expect(service.said.at(-1)).toBe('local at 11; 0 deliveries pending')
	service.close()
})

test('behavior: a poll that fails is said before it is a trouble, and withholds the heartbeat', async () => {
	const hook = await startHookServer()
	const service = await start(() => 0, `${hook.origin}/ping`)
	for (const now of [
		{ ...well, ok: false, reason: away },
		{ ...well, failing: ['local'] },
	])
		await service.turn(now, 60_000)
	expect(service.said.at(-1)).toBe('polling fails: local. local at 11; 0 deliveries pending')
	expect(hook.hits).toEqual([])
	await service.turn(well, 60_000)
	expect(await hook.until(1)).toHaveLength(1)
	service.close()
	await hook.close()
})
