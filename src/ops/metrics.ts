import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { isAccepted } from '../core/gaps.js'
import { allKinds } from '../kinds/all.js'
import type { Kind } from '../model/kind.js'
import type { StateSummary } from '../model/state.js'

/** Metrics of what happened. Names and labels are public interface; every label has a bounded number of values. */
export interface Metrics {
	/** A poll succeeded. */
	polled(network: string, poll: PollFacts): void
	/** An audit ended. */
	audited(network: string, audit: AnnouncedFacts): void
	/** A poll failed; a tick was skipped because a poll was still running. */
	pollFailed(network: string): void
	pollSkipped(network: string): void
	/** One HTTP request to an endpoint. */
	requested(network: string, request: RequestFacts): void
	/** Number of blocks whose logs were read, by the proof that none is missing. */
	provedLogs(network: string, proofs: Readonly<Record<string, number>>): void
	/** One attempt at a delivery. */
	attempted(receiver: string, result: DeliveryResult): void
	/** Watchlists or configuration were read again; `successful`: they took effect. */
	reloaded(successful: boolean): void
	watching(network: string, watches: number): void
	stalled(network: string, stalled: boolean): void
	/** All metrics in Prometheus' text format, version 0.0.4. Values from the state are read during the call. */
	text(): Promise<string>
	readonly contentType: string
}

export interface AnnouncedFacts {
	/** Number of new alerts, by kind. */
	readonly alerts: Readonly<Partial<Record<Kind, number>>>
	readonly retracted: number
	/** Events of settled blocks on which two endpoints differed. */
	readonly disagreements: number
}

export interface PollFacts extends AnnouncedFacts {
	readonly head: bigint
	readonly target: bigint
	readonly checkpoint: bigint
	/** End of the poll, in milliseconds since 1970. */
	readonly atMs: number
}

/** The same as `RpcRequest` of `chain/rpc`; repeated here on purpose, because this room does not import `chain`. */
export interface RequestFacts {
	/** Host and port; anything else is removed. */
	readonly endpoint: string
	readonly method: string
	/** The methods of its calls. */
	readonly calls: readonly string[]
	/** `ok`, or the kind of the error. */
	readonly result: string
	readonly durationMs: number
	/** Measured limits of concurrent requests, and of calls per second; null: no limit is known. */
	readonly inFlightLimit: number
	readonly rateLimit: number | null
}

const deliveryResults = ['delivered', 'retry', 'parked', 'dead'] as const
export type DeliveryResult = (typeof deliveryResults)[number]

export interface MetricsOptions {
	readonly version: string
	/** Source of the pending, held, parked and dead deliveries, and of the checkpoints before the first poll. */
	readonly summary: () => Promise<StateSummary>
	/** The networks of which the head, or how far it is, is not known now. Default: none. */
	readonly unknown?: () => Promise<{ readonly heads: readonly string[]; readonly lags: readonly string[] }>
	/** The configured names; their counters start at 0. Default: none. */
	readonly networks?: readonly string[]
	readonly receivers?: readonly string[]
	/** Also report the process's memory, processor time, file descriptors and event loop delay. Default: true. */
	readonly process?: boolean
}

export function createMetrics(options: MetricsOptions): Metrics {
	const { version, summary, unknown, process: own = true, networks = [], receivers: configured = [] } = options
	const registry = new Registry()
	const registers = [registry]
	if (own) collectDefaultMetrics({ register: registry })
	const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
		new Gauge({ name: `tracewatch_${name}`, help, labelNames, registers })
	const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
		new Counter({ name: `tracewatch_${name}`, help, labelNames, registers })

	const checkpoint = gauge('checkpoint_block', 'Last block scanned.', ['network'])
	const head = gauge(
		'head_block',
		'Newest block that the endpoint knew at the last poll; absent while it is unknown.',
		['network'],
	)
	const lag = gauge('lag_blocks', 'Blocks due and not yet scanned: target less checkpoint; absent while unknown.', [
		'network',
	])
	const lastPoll = gauge('last_poll_timestamp_seconds', 'When a poll last ended well.', ['network'])
	const stalled = gauge('stalled', '1 while the checkpoint does not move though it should.', ['network'])
	const watches = gauge('watches', 'Watches in effect.', ['network'])
	const polls = counter('polls_total', 'Polls, by how they ended: done, failed, skipped.', ['network', 'result'])
	const alerts = counter('alerts_total', `Alerts sent, by kind: ${[...allKinds, 'removed'].join(', ')}.`, [
		'network',
		'kind',
	])
	const booksClosed = gauge('books_closed_block', 'Lowest block up to which balances are explained.', ['network'])
	const booksOpen = gauge('books_open', 'Watches whose balance is not explained up to now.', ['network'])
	const booksUnproved = gauge(
		'books_unproved',
		'Times that a book was opened anew over blocks of which nothing could be proved.',
		['network'],
	)
	const unexplained = counter('unexplained_total', 'Unexplained balance changes.', ['network'])
	const gaps = gauge('gap_blocks', 'Blocks passed over because no source of any endpoint gives them.', ['network'])
	const gapsAccepted = gauge('gap_blocks_accepted', 'Those among them that a person has accepted.', ['network'])
	const deliveries = counter('deliveries_total', 'Attempts at deliveries, by result: delivered, retry, parked, dead.', [
		'receiver',
		'result',
	])
	const waiting = {
		pending: gauge('deliveries_pending', 'Deliveries not yet made.', ['receiver']),
		held: gauge('deliveries_held', 'Deliveries that a digest keeps back.', ['receiver']),
		parked: gauge('deliveries_parked', 'Deliveries that wait until a person has fixed something.', ['receiver']),
		dead: gauge('deliveries_dead', 'Deliveries given up, kept for `tracewatch deliveries`.', ['receiver']),
	}
	const requests = counter('rpc_requests_total', 'HTTP requests to endpoints.', [
		'network',
		'endpoint',
		'method',
		'result',
	])
	const calls = counter('rpc_calls_total', 'Calls in these requests, which providers bill one by one.', [
		'network',
		'endpoint',
		'method',
	])
	const durations = new Histogram({
		name: 'tracewatch_rpc_request_duration_seconds',
		help: 'How long HTTP requests to endpoints took, their bodies included.',
		labelNames: ['network', 'endpoint', 'method'],
		buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
		registers,
	})
	const disagreements = counter(
		'disagreements_total',
		'Events of settled blocks that two endpoints gave differently.',
		['network'],
	)
	const logProofs = counter(
		'log_blocks_total',
		'Blocks whose logs were read, by what proves that none is missing: receipts, bloom, witness, none.',
		['network', 'proof'],
	)
	const inFlightLimit = gauge(
		'rpc_in_flight_limit',
		'Requests that may be under way to an endpoint at once, as learnt.',
		['network', 'endpoint'],
	)
	const rateLimit = gauge('rpc_rate_limit', 'Calls per second an endpoint accepts, inferred from its 429 answers.', [
		'network',
		'endpoint',
	])
	const reloadOk = gauge(
		'config_last_reload_successful',
		'0 while the files are wrong and older ones are in effect.',
		[],
	)
	const reloadAt = gauge('config_last_reload_success_timestamp_seconds', 'When files last took effect.', [])
	gauge('build_info', 'Always 1; what runs is in the labels.', ['version', 'node']).set(
		{ version, node: globalThis.process.version },
		1,
	)
	reloadOk.set(1)
	reloadAt.setToCurrentTime()
	const bounded = createBounds()
	// Prometheus sees a first failure as an increase only if the counter was 0 before.
	for (const network of networks) {
		for (const result of ['done', 'failed', 'skipped']) polls.inc({ network, result }, 0)
		for (const kind of [...allKinds, 'removed']) alerts.inc({ network, kind }, 0)
		unexplained.inc({ network }, 0)
		disagreements.inc({ network }, 0)
	}
	for (const receiver of configured) for (const result of deliveryResults) deliveries.inc({ receiver, result }, 0)

	/** Reads values that must survive a restart, or that other processes may have changed. */
	async function readState(): Promise<void> {
		const { networks, receivers } = await summary()
		for (const [network, state] of networks) {
			checkpoint.set({ network }, Number(state.checkpoint.number))
			gaps.set({ network }, state.gaps.length)
			gapsAccepted.set({ network }, state.gaps.filter(isAccepted).length)
			const books = state.seen?.books
			if (books === undefined) continue
			if (books.closedTo !== null) booksClosed.set({ network }, books.closedTo)
			booksOpen.set({ network }, books.openCount)
			booksUnproved.set({ network }, books.unprovedCount ?? 0)
		}
		for (const [status, each] of Object.entries(waiting)) {
			each.reset()
			for (const receiver of configured) each.set({ receiver }, 0)
			for (const [receiver, counts] of receivers) each.set({ receiver }, counts[status as keyof typeof waiting])
		}
	}

	function announced(network: string, facts: AnnouncedFacts): void {
		for (const [kind, count] of Object.entries(facts.alerts)) alerts.inc({ network, kind }, count)
		unexplained.inc({ network }, facts.alerts.unexplained ?? 0)
		alerts.inc({ network, kind: 'removed' }, facts.retracted)
		disagreements.inc({ network }, facts.disagreements)
	}

	return {
		polled(network, poll) {
			polls.inc({ network, result: 'done' })
			checkpoint.set({ network }, Number(poll.checkpoint))
			head.set({ network }, Number(poll.head))
			lag.set({ network }, Math.max(0, Number(poll.target - poll.checkpoint)))
			lastPoll.set({ network }, poll.atMs / 1000)
			announced(network, poll)
		},
		audited: announced,
		pollFailed: (network) => polls.inc({ network, result: 'failed' }),
		pollSkipped: (network) => polls.inc({ network, result: 'skipped' }),
		requested(network, request) {
			const endpoint = bounded('endpoint', hostOf(request.endpoint))
			const method = bounded('method', request.method)
			requests.inc({ network, endpoint, method, result: bounded('result', request.result) })
			for (const call of request.calls) calls.inc({ network, endpoint, method: bounded('method', call) })
			durations.observe({ network, endpoint, method }, request.durationMs / 1000)
			inFlightLimit.set({ network, endpoint }, request.inFlightLimit)
			if (request.rateLimit === null) rateLimit.remove({ network, endpoint })
			else rateLimit.set({ network, endpoint }, request.rateLimit)
		},
		provedLogs(network, proofs) {
			for (const [proof, blocks] of Object.entries(proofs)) logProofs.inc({ network, proof }, blocks)
		},
		attempted: (receiver, result) => deliveries.inc({ receiver, result }),
		reloaded(successful) {
			reloadOk.set(successful ? 1 : 0)
			if (successful) reloadAt.setToCurrentTime()
		},
		watching: (network, count) => watches.set({ network }, count),
		stalled: (network, is) => stalled.set({ network }, is ? 1 : 0),
		async text() {
			await readState()
			const { heads = [], lags = [] } = (await unknown?.()) ?? {}
			for (const network of heads) head.remove({ network })
			for (const network of lags) lag.remove({ network })
			return registry.metrics()
		},
		contentType: registry.contentType,
	}
}

/** Host and port of an endpoint's URL, without the parts that may hold passwords and keys. */
function hostOf(endpoint: string): string {
	return endpoint
		.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
		.replace(/[/?#].*$/s, '')
		.replace(/^.*@/s, '')
}

/** Limits the values of a label: a value that is not a plain word, or is beyond the first 64, counts as `other`. */
function createBounds() {
	const seen = new Map<string, Set<string>>()
	return (label: string, value: string): string => {
		const values = seen.get(label) ?? new Set()
		seen.set(label, values)
		if (values.has(value)) return value
		if (values.size >= 64 || !/^[\w.:[\]-]{1,100}$/.test(value)) return 'other'
		values.add(value)
		return value
	}
}
