import { createAskedState } from '../audit/asked/askedState.js'
import { createAuditor } from '../audit/auditor.js'
import { createListedState } from '../audit/listed/listedState.js'
import { sha256 } from '../base/sha256.js'
import { steadyClock } from '../base/waits/steadyClock.js'
import { toChecksum } from '../config/address.js'
import type { Config } from '../config/load.js'
import { longestGapMs } from '../config/settings/cron.js'
import { type NetworkSettings, namesIn } from '../config/settings/settings.js'
import { MOST_PENDING, tooMuchWaits } from '../core/outbox/backlog.js'
import type { StateError } from '../errors.js'
import type { Clock } from '../model/glossary.js'
import type { Log, Store } from '../model/ports.js'
import type { WatchSet } from '../model/watch.js'
import { createDeliverer } from '../notify/delivery/deliverer.js'
import { createReceiver } from '../notify/receiver.js'
import type { Scrubber } from '../ops/scrub.js'
import { createAuditPorts } from '../scan/auditing/auditPorts.js'
import { createGapKeeper } from '../scan/gaps/gapKeeper.js'
import type { PollConfig } from '../scan/pollSession.js'
import { openStore, type StandBy } from '../state/open.js'
import { guarded } from './cleanedStore.js'
import { type Closers, createClosers } from './closers.js'
import type { Observer } from './observer.js'
import { openChain, receiversOf, tokensWanted, watchesOn } from './openNetwork.js'
import { type ConfiguredPoller, createNetworkPoller } from './polling/networkPoller.js'

/** The parts of `run` and `once`; closing closes them in reverse order. */
export type Parts = Awaited<ReturnType<typeof openParts>>

export interface PartsOptions {
	readonly config: Config
	readonly log: Log
	readonly scrubber: Pick<Scrubber, 'clean'>
	readonly version: string
	readonly clock?: Clock
	readonly observer?: Observer
	/** Minimum age of a late event, for a caller that polls less often than the schedule. Default: 0. */
	readonly leastLateMs?: number
	readonly runsOnce?: boolean
	/** What to do while another instance has the database. Default: wait for at most a minute. */
	readonly standBy?: StandBy
	readonly onLost?: (error: StateError) => void
}

/** After this time a poll ends at the next part, to get a new head, new watches or a stop. */
const pollBudgetMs = 5_000
/** A block that takes longer is also asked of every other source; if several blocks do, they are read one at a time. */
const walkWait = { oneMs: 4_000, firstMs: 3_500, severalMs: 3_000, eachMs: 250, longestMs: 90_000 }

/** Takes the lock, opens the state and builds the parts. Sends no request yet. Throws StateError. */
export async function openParts(options: PartsOptions) {
	const { config, log, version, scrubber, clock = Date.now, observer } = options
	/** A test's clock serves as both clocks. */
	const steady = options.clock ?? steadyClock
	const closers = createClosers()
	try {
		const { historyMs } = config
		const opened = await openStore(config.statePlace, {
			...{ clock, log, standBy: options.standBy, nameOf: namesIn(config.receivers) },
			...(historyMs !== undefined && { historyMs }),
			...(options.onLost && { onLost: options.onLost }),
		})
		const store = guarded(opened, scrubber.clean)
		closers.add(() => store.close())

		let current = config.watches
		const receivers = await Promise.all(config.receivers.map((one) => createReceiver(one, { version, clock })))
		const deliverer = createDeliverer({
			store,
			receivers,
			optionsOf: (name) => config.receivers.find((receiver) => receiver.name === name) ?? null,
			clock,
			steady,
			log,
			onResult: (delivery, outcome) => observer?.attempted(delivery.receiver, outcome),
		})
		closers.add(() => deliverer.close())

		const recipients = new Map(receivers.map(({ name, recipients }) => [name, recipients]))
		/** The mail addresses of a receiver, each with its own delivery; null if the receiver is not split. */
		const recipientsOf = (receiver: string) => recipients.get(receiver) ?? null
		const watches = () => current
		const shared = { ...options, clock, steady, store, closers, watches, recipientsOf }
		const pollers = config.networks.map((network) => openPoller(network, shared))
		return {
			...{ store, deliverer, troubles: deliverer.troubles, pollers },
			/** Takes closers of resources opened later, which must be closed before these parts. */
			closers,
			setWatches(watches: WatchSet): void {
				current = watches
				for (const poller of pollers) poller.setWatches(watchesOn(watches, poller.name))
			},
		}
	} catch (error) {
		await closers.close()
		throw error
	}
}

interface Shared extends PartsOptions {
	readonly clock: Clock
	readonly steady: Clock
	readonly store: Store
	readonly closers: Closers
	readonly watches: () => WatchSet
	readonly recipientsOf: PollConfig['recipientsOf']
}

function openPoller(network: NetworkSettings, shared: Shared): ConfiguredPoller {
	const { store, clock, steady, closers, observer, watches, recipientsOf, runsOnce = false, leastLateMs = 0 } = shared
	const { name } = network
	const log = shared.log.child({ network: name })
	const receivers = () => receiversOf(watches(), name)
	const { chain, accounts, contracts, codes, fallback } = openChain(network, {
		...{ clock, steady, log, walkWait },
		tokensWanted: () => tokensWanted(watches(), network),
		onRequest(request) {
			poller.noteActivity()
			observer?.requested(name, request)
		},
		onLogProofs: (proofs) => observer?.provedLogs(name, proofs),
		onProgress: () => poller.noteActivity(),
	})
	closers.add(() => chain.close())
	const reader = network.keepsBooks ? createAskedState : network.keepsListedBooks ? createListedState : null
	const auditing = { accounts, chain, clock: steady, log, runsOnce }
	const auditor = reader && createAuditor(auditing, reader(auditing))
	const audit = createAuditPorts({ accounts, auditor, contracts, codes, clock: steady, log, runsOnce })
	closers.add(() => audit.follower.halt())
	const intervalMs = longestGapMs(network.schedule)
	const poller = createNetworkPoller({
		config: {
			...{ network, watches: watchesOn(watches(), name), recipientsOf, budgetMs: pollBudgetMs },
			lateAfterMs: Math.max(leastLateMs, lateAfterMs(network, intervalMs)),
		},
		ports: {
			...{ chain, store, clock, log, audit },
			checksum: toChecksum,
			digest: sha256,
			onScanned: (checkpoint, head) => observer?.scanned(name, checkpoint, head),
			gaps: { keeper: createGapKeeper({ fallback, clock, log }), receivers },
			room: () => roomFor(name, store),
		},
		steady,
		quietAfterMs: 2 * intervalMs,
		observer,
		waitReason: () => tooManyWaiting(name, store, receivers()),
	})
	return { ...poller, network }
}

/** Deliveries of all networks that wait for each receiver. */
async function waitingFor(store: Store): Promise<ReadonlyMap<string, number>> {
	const { receivers } = await store.summary()
	return new Map([...receivers].map(([name, { pending, held, parked }]) => [name, pending + held + parked]))
}

/**
 * How many more deliveries of this network each receiver may queue before they are folded: half of `MOST_PENDING`, so
 * that a flood is folded before it stops the scan, and only in the network that causes it.
 */
async function roomFor(network: string, store: Store): Promise<(receiver: string) => number> {
	const most = Math.floor(MOST_PENDING / 2)
	const all = await waitingFor(store)
	// Counting by network is slow; do it only if all networks together exceed the limit.
	const own = Math.max(0, ...all.values()) < most ? all : await store.waiting(network)
	return (name) => most - (own.get(name) ?? 0)
}

async function tooManyWaiting(network: string, store: Store, receivers: readonly string[]): Promise<string | null> {
	const all = [...(await waitingFor(store)).values()].reduce((sum, one) => sum + one, 0)
	if (all < MOST_PENDING) return null
	const count = tooMuchWaits({ own: await store.waiting(network), all, receivers }, MOST_PENDING)
	if (count === null) return null
	const words = `${count} deliveries wait for their receivers, and at most ${MOST_PENDING} may wait for one`
	return `${words}; see \`tracewatch deliveries\``
}

/** Two missed ticks and some tolerance. With `safe` or `finalized`, a block is minutes old when it is announced. */
function lateAfterMs({ confirmations }: NetworkSettings, intervalMs: number): number {
	const waitingMs = typeof confirmations === 'number' ? 0 : 30 * 60_000
	return 2.5 * intervalMs + waitingMs
}
