import { sha256 } from '../base/sha256.js'
import { steadyClock } from '../base/steadyClock.js'
import type { LogProofs } from '../chain/logs/logProofs.js'
import type { RpcRequest } from '../chain/rpc/rpc.js'
import { toChecksum } from '../config/address.js'
import type { Config } from '../config/load.js'
import { longestGapMs } from '../config/settings/schedule.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { tooMuchWaits } from '../core/backlog.js'
import type { Outcome } from '../model/delivery.js'
import type { Address, Clock } from '../model/glossary.js'
import type { Log, Store } from '../model/ports.js'
import type { TroubleBook } from '../model/trouble.js'
import type { WatchIndex, WatchSet } from '../model/watch.js'
import { createDeliverer, type Deliverer } from '../notify/delivery/deliverer.js'
import { createReceiver } from '../notify/receiver.js'
import type { Scrubber } from '../ops/scrub.js'
import { openStore } from '../state/open.js'
import { openTroubles } from '../state/troubles.js'
import { createBookkeeper } from '../watch/bookkeeper.js'
import { createGapKeeper } from '../watch/gapKeeper.js'
import { createListedBookkeeper } from '../watch/listedBookkeeper.js'
import type { PollReport } from '../watch/poll.js'
import { type Closers, createClosers } from './closers.js'
import { createNetworkPoller, type NetworkPoller } from './networkPoller.js'
import { type NoteState, noting } from './noting.js'
import { areTokensAsked, openChain, receiversOf, silencesOf, tokensWanted, watchesOn } from './open.js'
import { guarded } from './outgoing.js'

/** All that `run` and `once` are made of; closing takes it down in reverse order. */
export interface Parts {
	readonly store: Store
	readonly deliverer: Deliverer
	/** What receivers were told is wrong, and not yet the end of. */
	readonly troubles: TroubleBook
	readonly pollers: readonly NetworkPoller[]
	/** Mail addresses of a receiver that gets one delivery each; null where the receiver is one. */
	recipientsOf(receiver: string): readonly string[] | null
	/** Gives every network its watches anew. */
	setWatches(watches: WatchSet): void
	/** For what is opened beside these parts and must be closed before them. */
	readonly closers: Closers
}

export interface PartsOptions {
	readonly config: Config
	readonly log: Log
	/** Knows the secrets of the configuration. */
	readonly scrubber: Pick<Scrubber, 'clean'>
	/** Of this program. */
	readonly version: string
	readonly clock?: Clock
	/** What happens inside, for metrics and health. */
	readonly observer?: Observer
	/** Nothing younger is called late: for who polls more seldom than the schedule says. Default: 0. */
	readonly leastLateMs?: number
}

export interface Observer {
	/** After each poll that ended well. */
	reported(network: string, report: PollReport): void
	failed(network: string): void
	skipped(network: string): void
	/** Another instance polls it. */
	stoodBy(network: string): void
	requested(network: string, request: RpcRequest): void
	/** Logs of so many blocks were read, by what proves that none is missing. */
	provedLogs(network: string, proofs: LogProofs): void
	attempted(receiver: string, outcome: Outcome): void
	readonly noted: NoteState
}

/** How long one poll works before it comes up for a fresh head, new watches and a stop. */
const pollBudgetMs = 5_000
/** A block that takes longer is tried by every other way too; of several that do, one after the other is read. */
const walkWait = { oneMs: 4_000, firstMs: 3_500, severalMs: 3_000, eachMs: 250, longestMs: 90_000 }

/** Takes the lock, opens the state and builds the rest; nothing is contacted yet. Throws StateError. */
export async function openParts(options: PartsOptions): Promise<Parts> {
	const { config, log, version, scrubber, clock = Date.now, observer, leastLateMs = 0 } = options
	/** A clock that a test moves moves both. */
	const steady = options.clock ?? steadyClock
	const closers = createClosers()
	try {
		const { leaseMs, historyMs } = config
		const opened = await openStore(config.statePlace, { clock, log, leaseMs, historyMs })
		const clean = guarded(opened, scrubber.clean)
		const store = observer === undefined ? clean : noting(clean, observer.noted)
		closers.add(() => store.close())

		const receiverNames = config.receivers.map(({ name }) => name)
		const troubles = await openTroubles(config.statePlace, receiverNames, log)
		closers.add(() => troubles.close())

		let current = config.watches
		const receivers = await Promise.all(config.receivers.map((one) => createReceiver(one, { version, clock })))
		const deliverer = createDeliverer({
			store,
			troubles,
			receivers,
			optionsOf: (name) => config.receivers.find((receiver) => receiver.name === name) ?? null,
			silencesOf: (alert) => silencesOf(current, alert),
			clock,
			steady,
			log,
			onResult: (delivery, outcome) => observer?.attempted(delivery.receiver, outcome),
		})
		closers.add(() => deliverer.close())

		const recipients = new Map(receivers.map(({ name, recipients }) => [name, recipients]))
		const recipientsOf = (receiver: string) => recipients.get(receiver) ?? null
		const pollers = config.networks.map((network) => {
			const watches = watchesOn(current, network.name)
			return openPoller(
				network,
				{ watches, recipientsOf, receivers: () => receiversOf(current, network.name) },
				{
					store,
					clock,
					steady,
					log,
					closers,
					observer,
					leastLateMs,
					maxPending: config.maxPending,
					areTokensAsked: () => areTokensAsked(current, network),
					tokensWanted: () => tokensWanted(current, network),
				},
			)
		})

		return {
			...{ store, deliverer, troubles },
			pollers,
			recipientsOf,
			setWatches(watches) {
				current = watches
				for (const poller of pollers) poller.setWatches(watchesOn(watches, poller.name))
				deliverer.reconsider()
			},
			closers,
		}
	} catch (error) {
		await closers.close()
		throw error
	}
}

interface Surroundings {
	readonly store: Store
	readonly clock: Clock
	/** By which waits and ages are measured: the clock may be set. */
	readonly steady: Clock
	readonly log: Log
	readonly closers: Closers
	readonly observer: Observer | undefined
	readonly maxPending: number
	readonly leastLateMs: number
	readonly areTokensAsked: () => boolean
	readonly tokensWanted: () => ReadonlySet<Address> | null
}

interface Who {
	readonly watches: WatchIndex
	readonly recipientsOf: (receiver: string) => readonly string[] | null
	/** Those that anything on the network is sent to, as the watchlists are now. */
	readonly receivers: () => readonly string[]
}

function openPoller(
	network: NetworkSettings,
	{ receivers, ...who }: Who,
	{ store, clock, steady, log, closers, observer, maxPending, leastLateMs, ...surroundings }: Surroundings,
): NetworkPoller {
	const own = log.child({ network: network.name })
	const { name } = network
	const { chain, accounts, tries } = openChain(network, {
		clock,
		steady,
		log: own,
		areTokensAsked: surroundings.areTokensAsked,
		tokensWanted: surroundings.tokensWanted,
		onRequest(request) {
			poller.noteActivity(request)
			observer?.requested(name, request)
		},
		onLogProofs: (proofs) => observer?.provedLogs(name, proofs),
		onProgress: () => poller.noteActivity(),
		walkWait,
	})
	closers.add(() => chain.close())
	const keeper = network.keepsBooks ? createBookkeeper : network.keepsListedBooks ? createListedBookkeeper : null
	const books = keeper && { bookkeeper: keeper({ accounts, chain, clock: steady, log: own }), accounts }
	const signed = { accounts, isPrivate: network.isPrivate, vain: new Map() }
	const config = { network, ...who, lateAfterMs: Math.max(leastLateMs, lateAfterMs(network)), budgetMs: pollBudgetMs }
	const poller = createNetworkPoller({
		config,
		ports: {
			chain,
			store,
			clock,
			log: own,
			checksum: toChecksum,
			digest: sha256,
			gaps: { keeper: createGapKeeper({ tries, clock, log: own }), receivers },
			...(books && { books }),
			...(!network.keepsBooks && { signed }),
		},
		steady,
		onReport: (report) => observer?.reported(name, report),
		onFailure: () => observer?.failed(name),
		onSkip: () => observer?.skipped(name),
		onStandby: () => observer?.stoodBy(name),
		waitReason: () => tooManyWaiting(name, store, receivers(), maxPending),
	})
	return poller
}

async function tooManyWaiting(
	network: string,
	store: Store,
	receivers: readonly string[],
	maxPending: number,
): Promise<string | null> {
	let all = 0
	for (const { pending, held, parked } of (await store.summary()).receivers.values()) all += pending + held + parked
	if (all < maxPending) return null
	const count = tooMuchWaits({ own: await store.waiting(network), all, receivers }, maxPending)
	if (count === null) return null
	const words = `${count} deliveries wait for their receivers, and max_pending is ${maxPending}`
	return `${words}; see \`tracewatch deliveries\``
}

/** Two missed ticks; a block that must be `safe` or `finalized` first is some minutes old when its turn comes. */
function lateAfterMs({ schedule, confirmations }: NetworkSettings): number {
	const waitingMs = typeof confirmations === 'number' ? 0 : 30 * 60_000
	return 2.5 * longestGapMs(schedule) + waitingMs
}
