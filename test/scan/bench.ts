// A network polled by hand over a real node and a real state folder: no schedule, no deliverer, so that a test decides
// when a poll happens and reads from the state what is to be told.

import { createAskedState } from '../../src/audit/asked/askedState.js'
import { createAuditor } from '../../src/audit/auditor.js'
import { createListedState } from '../../src/audit/listed/listedState.js'
import { sha256 as digest } from '../../src/base/sha256.js'
import { createBlockFallback } from '../../src/chain/blockFallback.js'
import { withdrawalListsOf } from '../../src/chain/blocks/withdrawals.js'
import { probeSettingOf } from '../../src/chain/capabilities/permitted.js'
import { createCapabilitiesRegistry } from '../../src/chain/capabilities/registry.js'
import { createChain } from '../../src/chain/chain.js'
import { createEndpoints } from '../../src/chain/endpoints/endpoints.js'
import type { TokenSetting } from '../../src/chain/logs/tokens.js'
import { openAccounts } from '../../src/chain/openAccounts.js'
import type { RetryPolicy } from '../../src/chain/rpc/retry.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import { openSourceClients } from '../../src/chain/sourceClients.js'
import { createCodeReader } from '../../src/chain/state/codeReader.js'
import { createContractState } from '../../src/chain/state/contractState.js'
import type { WalkWait } from '../../src/chain/walk/walkWait.js'
import { toChecksum } from '../../src/config/address.js'
import { createWatchTable } from '../../src/config/watchlists/table/watchTable.js'
import { asksForTokens, contractsWanted } from '../../src/kinds/tokenRules.js'
import type { AlertData } from '../../src/model/alert.js'
import type { Delivery } from '../../src/model/delivery.js'
import type { Kind } from '../../src/model/kind.js'
import type { BlockFallback, Log, Store } from '../../src/model/ports.js'
import type { Network, Watch, WatchIndex } from '../../src/model/watch.js'
import { createAuditPorts } from '../../src/scan/auditing/auditPorts.js'
import type { AuditReport, Follower } from '../../src/scan/auditing/follower.js'
import { createGapKeeper } from '../../src/scan/gaps/gapKeeper.js'
import { type PollReport, poll } from '../../src/scan/poll.js'
import type { PollConfig, PollPorts } from '../../src/scan/pollSession.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { silent } from '../support/silent.js'
import { START_MS } from '../support/standingClock.js'

export interface Bench {
	/** One poll, without the audit that begins after it. */
	scan(signal?: AbortSignal): Promise<PollReport>
	/** One poll and the audit after it, to their ends. */
	poll(signal?: AbortSignal): Promise<PollReport>
	/** Polls until nothing is left below the target. The report is the last one, with the disagreements of all. */
	settle(signal?: AbortSignal): Promise<PollReport>
	setWatches(watches: readonly Watch[]): void
	/** The auditor beside the polls. */
	readonly follower: Follower
	/** What a poll is made with; the lease is for the caller to acquire. */
	readonly config: PollConfig
	readonly ports: PollPorts
	/** Moves the clock, where the bench has its own. */
	pass(ms: number): void
	readonly store: Store
	/** Everything that was posted for the receiver `hook`, in order. */
	posted(): Promise<readonly Delivery[]>
	close(): Promise<void>
}

export interface BenchOptions {
	readonly urls: readonly string[]
	readonly watches: readonly Watch[]
	readonly network?: Partial<Network>
	readonly lateAfterMs?: number
	readonly log?: Log
	readonly isPrivate?: boolean
	/** Default: kept, of watches that want to be told of what is unexplained. */
	readonly books?: boolean
	/** Which watches ask what rules them. Default: by their kinds. */
	readonly asks?: (watch: Pick<Watch, 'kinds'>) => boolean
	/** Default: the wall clock. */
	readonly clock?: () => number
	/** How requests and endpoints wait; `clock` must move by it. Default: really. */
	readonly wait?: (ms: number) => Promise<void>
	/** Of single requests. Default: as the program's with one endpoint. */
	readonly retry?: Partial<RetryPolicy>
	/** Default: a folder of its own. */
	readonly openStore?: (clock: () => number) => Promise<Store>
	/** Stands between the poll and the state; default: nothing. */
	readonly around?: (store: Store) => Store
	readonly timeoutMs?: number
	/** Default: a walk waits as long as it takes. */
	readonly walkWait?: WalkWait
	readonly maxBodyBytes?: number
	/** Every answer is read as it comes, as large ones are. Default: those above 4 MiB. */
	readonly streams?: boolean
	/** Default: blocks that no one can give become gaps in time, as in the program; else the poll stands at them. */
	readonly gaps?: boolean
	/** How long a poll waits for a gap that is read again. Default: 3 s. */
	readonly gapWaitMs?: number
	/** Stands between gaps and the sources that are asked for them; default: nothing. */
	readonly aroundFallback?: (fallback: BlockFallback) => BlockFallback
	/** A block is taken without the transactions that no source gives, as in the program. Default: false. */
	readonly mayLack?: boolean
	/** How logs are proved. Default: as the program does. */
	readonly logs?: Partial<Pick<TokenSetting, 'mostProved' | 'onProofs'>>
	/** As in `AuditorOptions`. */
	readonly runsOnce?: boolean
	/** Default: what the node is seen to do best. */
	readonly source?: NonNullable<Parameters<typeof createChain>[0]['source']>
}

export const testNetwork: Network = {
	name: 'local',
	chainId: 31337,
	confirmations: 0,
	settle: 12,
	symbol: 'ETH',
	decimals: 18,
	explorer: null,
}

/** As the daemon has them: a watch is another object each time that it is asked for. */
function tableOf(watches: readonly Watch[]): WatchIndex {
	const table = createWatchTable(1)
	for (const { address, label, ...rules } of watches) table.addOnceSince(table.length, address, label, rules)
	return table.index
}

export async function openBench(options: BenchOptions): Promise<Bench> {
	const log = options.log ?? silent
	const network = { ...testNetwork, ...options.network }
	let passedMs = 0
	const { clock = () => START_MS + passedMs, wait, timeoutMs = 5_000, maxBodyBytes = 64 * 1024 * 1024 } = options
	const { openStore = (time) => openFileStore(temporaryFolder(), { clock: time }) } = options
	const store = await openStore(clock)
	const time = wait === undefined ? {} : { wait, now: clock }
	const rpcs = options.urls.map((url) =>
		createRpc({
			url,
			timeoutMs,
			maxBodyBytes,
			...(options.streams && { parsedBytes: 0 }),
			clock,
			retry: options.retry ?? {},
			...time,
		}),
	)
	const endpoints = createEndpoints({ rpcs, chainId: network.chainId, clock, log, ...(wait && { wait }) })
	const known = network.tokens ?? new Map()
	const areAsked = () => asksForTokens(listed, known)
	const wanted = () => contractsWanted(listed, known)
	const choice = { setting: options.source ?? 'auto', isPrivate: options.isPrivate ?? false } as const
	const registry = createCapabilitiesRegistry({ setting: probeSettingOf(choice), clock, log })
	const { isPrivate = false } = options
	const contracts = isPrivate ? null : createContractState({ endpoints })
	const codes = isPrivate ? null : createCodeReader({ endpoints })
	const accounts = openAccounts({ rpcs, endpoints, chainId: network.chainId, registry, isPrivate, clock, log })
	const asked = {
		registry,
		tokens: { chainId: network.chainId, known, areAsked, wanted, ...options.logs } satisfies TokenSetting,
		clock,
		withdrawals: withdrawalListsOf(network.chainId),
		isPrivate: options.isPrivate ?? false,
		source: options.source ?? 'auto',
	}
	const { walkWait } = options
	const chain = createChain({
		...{ endpoints, ...asked, settle: network.settle, log },
		...(walkWait && { walkWait }),
	})
	const { mayLack = false } = options
	const clients = openSourceClients({ rpcs, chainId: network.chainId, ...asked, mayLack, onHeard: endpoints.heard })
	const fallback = (options.aroundFallback ?? ((own) => own))(createBlockFallback(clients))
	const gapWait = options.gapWaitMs === undefined ? {} : { firstWaitMs: options.gapWaitMs }
	const gaps = {
		keeper: createGapKeeper({ fallback, clock, log, ...gapWait }),
		receivers: () => ['hook'],
	}
	const auditing = { accounts, chain, clock, log, runsOnce: options.runsOnce ?? false }
	const reader = (isPrivate ? createListedState : createAskedState)(auditing)
	const auditor = options.books === false ? null : createAuditor(auditing, reader)
	const audit = createAuditPorts({
		accounts,
		auditor,
		contracts,
		codes,
		...(options.asks && { asks: options.asks }),
		clock,
		runsOnce: options.runsOnce ?? false,
	})
	const signal = new AbortController().signal
	let watches = tableOf(options.watches)
	// Made once: it is asked for with each part of a walk, and may be long.
	let listed = [...watches.values()].flat()

	const setting = { network, recipientsOf: () => null, lateAfterMs: options.lateAfterMs ?? 3_600_000, budgetMs: 5_000 }
	const ports: PollPorts = {
		chain,
		store: options.around?.(store) ?? store,
		clock,
		log,
		checksum: toChecksum,
		digest,
		...(options.gaps !== false && { gaps }),
		audit,
	}
	const bench: Bench = {
		store,
		follower: audit.follower,
		ports,
		get config() {
			return { ...setting, watches }
		},
		scan: (own = signal) => poll({ ...setting, watches }, ports, own),
		poll: (own) => audited(audit.follower, () => bench.scan(own)),
		async settle(own) {
			for (let disagreements = 0; ; ) {
				const report = await bench.poll(own)
				for (const { error } of report.unread) throw error
				disagreements += report.disagreements
				if (!report.behind) return { ...report, disagreements }
			}
		},
		pass(ms) {
			passedMs += ms
		},
		setWatches(next) {
			watches = tableOf(next)
			listed = [...watches.values()].flat()
		},
		posted: async () => (await store.deliveries()).filter(({ receiver }) => receiver === 'hook'),
		async close() {
			await audit.follower.halt()
			await chain.close()
			await store.close()
		},
	}
	return bench
}

/** A poll and the audit that follows it, as one: with the figures of both, or the failure of either. */
async function audited(follower: Follower, act: () => Promise<PollReport>): Promise<PollReport> {
	const audits: AuditReport[] = []
	const off = follower.onEnd((one) => audits.push(one))
	let report: PollReport
	try {
		report = await act()
	} finally {
		await follower.idle()
		off()
	}
	const failed = audits.find(({ result }) => result === 'failed')
	if (failed !== undefined) throw failed.error
	for (const { alerts, retracted, disagreements } of audits) {
		const all = Object.entries(report.alerts).map(([kind, count]) => [kind, count + alerts[kind as Kind]])
		report = { ...report, alerts: Object.fromEntries(all), retracted: report.retracted + retracted }
		report = { ...report, disagreements: report.disagreements + disagreements }
	}
	return report
}

export function watchOf(address: Watch['address'], part: Partial<Watch> = {}): Watch {
	return {
		network: testNetwork.name,
		address,
		label: null,
		tags: [],
		kinds: ['transfer', 'deployment', 'withdrawal', 'unexplained'],
		direction: 'both',
		minValueWei: 1n,
		receivers: ['hook'],
		fromBlock: null,
		watchlist: 'test.yaml',
		...part,
	}
}

export function alertOf(delivery: Delivery): AlertData {
	const { data } = delivery.message
	if (!('txHash' in data)) throw new Error(`${delivery.id} is no alert`)
	return data
}
