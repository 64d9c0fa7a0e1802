import { counted } from '../base/text/counted.js'
import type { Config } from '../config/load.js'
import type { Log } from '../model/ports.js'
import type { StateSummary } from '../model/state.js'
import type { Health } from '../model/trouble.js'
import { createHeartbeat } from '../ops/heartbeat.js'
import type { Notifier } from '../ops/sdNotify.js'
import type { Closers } from './closers.js'
import type { Vitals } from './health/vitals.js'
import type { NetworkPoller } from './polling/networkPoller.js'

export interface ServiceOptions {
	readonly config: Config
	readonly pollers: readonly NetworkPoller[]
	readonly vitals: Pick<Vitals, 'check'>
	readonly notifier: Notifier
	readonly summary: () => Promise<StateSummary>
	readonly log: Log
	readonly closers: Closers
	/** Never rejects. */
	readonly health: () => Promise<Health>
}

/** Starts what supervises the daemon: stall checks, the watchdog, the heartbeat and the status line. */
export function startService(options: ServiceOptions): void {
	const { config, vitals, health, notifier, log, closers } = options
	const every = (ms: number, act: () => void) => {
		const timer = setInterval(act, ms)
		closers.add(() => clearInterval(timer))
	}
	every(stallCheckMs, () => {
		vitals.check().catch((error) => log.error({ err: error }, 'the stall check failed; it runs again at its next time'))
	})
	every(statusMs, () => {
		sayStatus(options).catch((error) => log.debug({ err: error }, 'the status line could not be made'))
	})
	const { watchdogMs } = notifier
	if (watchdogMs !== null) {
		// Notify the watchdog only while every network's poller is alive: systemd then restarts a process with a hung poll.
		every(watchdogMs / 3, () => {
			if (options.pollers.every((poller) => poller.isAlive(watchdogMs))) notifier.watchdog()
		})
	}
	if (config.heartbeatUrl !== null) {
		const heartbeat = createHeartbeat(config.heartbeatUrl, log)
		closers.add(() => heartbeat.close())
		every(heartbeatMs, () => {
			void health().then(({ ok, failing = [] }) => (ok && failing.length === 0 ? heartbeat.beat() : undefined))
		})
	}
}

const stallCheckMs = 1_000
const statusMs = 5_000
const heartbeatMs = 60_000

async function sayStatus({ health, notifier, summary, config }: ServiceOptions): Promise<void> {
	if (!notifier.isOn) return
	const { networks, reason, failing = [] } = await health()
	// An unreadable state is part of the reason; do not keep showing the old line.
	const known = await summary().catch(() => null)
	const pending = known && [...known.receivers.values()].reduce((sum, receiver) => sum + receiver.pending, 0)
	const places = networks.map(({ network, checkpoint }) => `${network} at ${checkpoint ?? 'no block yet'}`).join(', ')
	const trouble = reason ?? (failing.length > 0 ? `polling fails: ${failing.join(', ')}` : null)
	const many = config.networks.length === 1 ? '' : `${config.networks.length} networks: `
	const deliveries = pending === null ? 'deliveries not known' : `${counted(pending, 'delivery', 'deliveries')} pending`
	notifier.status(`${trouble === null ? '' : `${trouble}. `}${many}${places}; ${deliveries}`)
}

/** The status line after a start and a reload. */
export function watchingInWords(watches: number): string {
	return `watching ${counted(watches, 'address', 'addresses')}`
}
