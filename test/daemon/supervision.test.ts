// The status line that systemd shows: of what is so now, also when nothing can be read.
import { afterEach, expect, test, vi } from 'vitest'
import { type ServiceOptions, startService } from '../../src/daemon/supervision.js'
import { StateError } from '../../src/errors.js'
import { silent } from '../support/silent.js'

afterEach(() => {
	vi.useRealTimers()
})

const well = { ok: true, reason: null, networks: [{ network: 'local', checkpoint: 11 }] }
const away = 'local is not scanned: the state in the database cannot be reached'

async function start(pending: () => number) {
	vi.useFakeTimers()
	const said: string[] = []
	const closers: (() => unknown)[] = []
	let health: object = well
	const options = {
		config: { http: null, heartbeatUrl: null, networks: [{ stallAfterMs: null }] },
		pollers: [],
		vitals: { check: async () => {}, isWell: () => true },
		notifier: { isOn: true, watchdogMs: null, status: (text: string) => void said.push(text) },
		summary: async () => ({ receivers: new Map([['hook', { pending: pending() }]]) }),
		log: silent,
		closers: { add: (close: () => unknown) => void closers.push(close) },
		health: async () => health,
	}
	startService(options as unknown as ServiceOptions)
	return {
		said,
		turn: (now: object) => {
			health = now
			return vi.advanceTimersByTimeAsync(5_000)
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
