import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { isAccepted } from '../core/gaps.js'
import { allKinds } from '../core/kinds.js'
import type { StateSummary } from '../model/state.js'
import type { Kind } from '../model/watch.js'

/** What happened, as numbers. Names and labels are public interface; every label has a bounded number of values. */
export interface Metrics {
	/** A poll ended well. */
	polled(network: string, poll: PollFacts): void
	/** A poll failed, or a tick found one running. */
	pollFailed(network: string): void
	pollSkipped(network: string): void
	/** One HTTP request to an endpoint. */
	requested(network: string, request: RequestFacts): void
	/** Logs of so many blocks were read, by what proves that none is missing. */
	provedLogs(network: string, proofs: Readonly<Record<string, number>>): void
	/** One attempt at a delivery. */
	attempted(receiver: string, result: DeliveryResult): void
	/** The configuration or the watchlists were read again. */
	reloaded(successful: boolean): void
	watching(network: string, watches: number): void
	stalled(network: string, stalled: boolean): void
	/** Everything in Prometheus' text format, version 0.0.4. What stands in the state is read at this moment. */
	text(): Promise<string>
	readonly contentType: string
}

export interface PollFacts {
	readonly head: bigint
	readonly target: bigint
	readonly checkpoint: bigint
	/** New ones in this poll. */
	readonly alerts: Readonly<Partial<Record<Kind, number>>>
	readonly retracted: number
	/** Events of settled blocks that two endpoints gave differently, in this poll. */
	readonly disagreements: number
	/** When it ended, in milliseconds since 1970. */
	readonly atMs: number
}

/** As the `RpcRequest` of `chain/rpc`; said again on purpose, since this room imports no other. */
export interface RequestFacts {
	/** Host and port; anything after them is cut off. */
	readonly endpoint: string
	readonly method: string
	/** `ok`, or the kind of the error. */
	readonly result: string
	readonly durationMs: number
	/** Requests that the endpoint is seen to bear at once, and calls a second; null: no limit is known. */
	readonly inFlightLimit: number
	readonly rateLimit: number | null
}

const deliveryResults = ['delivered', 'retry', 'parked', 'dead'] as const
export type DeliveryResult = (typeof deliveryResults)[number]

export interface MetricsOptions {
	readonly version: string
	/** Pending, held, parked and dead deliveries, and the checkpoints before the first poll. */
	readonly summary: () => Promise<StateSummary>
	/** Those of the settings: what is counted of them stands at 0 before it happens. Default: none. */
	readonly networks?: readonly string[]
	readonly receivers?: readonly string[]
	/** Also what the process uses: memory, processor, file descriptors, delay of the event loop. Default: true. */
	readonly process?: boolean
}

export function createMetrics(options: MetricsOptions): Metrics {
	const { version, summary, process: own = true, networks = [], receivers: configured = [] } = options
	const registry = new Registry()
	const registers = [registry]
	if (own) collectDefaultMetrics({ register: registry })
	const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
		new Gauge({ name: `tracewatch_${name}`, help, labelNames, registers })
	const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
		new Counter({ name: `tracewatch_${name}`, help, labelNames, registers })

	const checkpoint = gauge('checkpoint_block', 'Last block scanned.', ['network'])
	const head = gauge('head_block', 'Newest block that the endpoint knew at the last poll.', ['network'])
	const lag = gauge('lag_blocks', 'Blocks that should be scanned and are not yet: target less checkpoint.', ['network'])
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
	const unexplained = counter('unexplained_total', 'Balances that moved, and nothing explains it.', ['network'])
	const gaps = gauge('gap_blocks', 'Blocks passed over because no source of any endpoint gives them.', ['network'])
	const gapsAccepted = gauge('gap_blocks_accepted', 'Those among them that a person has accepted.', ['network'])
	const deliveries = counter('deliveries_total', 'Attempts at deliveries, by result: delivered, retry, parked, dead.', [
		'receiver',
		'result',
	])
	const waiting = {
		pending: gauge('deliveries_pending', 'Deliveries not yet made.', ['receiver']),
		held: gauge('deliveries_held', 'Deliveries that a digest or a silence keeps back.', ['receiver']),
		parked: gauge('deliveries_parked', 'Deliveries that wait until a person has fixed something.', ['receiver']),
		dead: gauge('deliveries_dead', 'Deliveries given up, kept for `tracewatch deliveries`.', ['receiver']),
	}
	const requests = counter('rpc_requests_total', 'HTTP requests to endpoints.', [
		'network',
		'endpoint',
		'method',
		'result',
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
	const rateLimit = gauge('rpc_rate_limit', 'Calls a second that an endpoint bears, as learnt from its 429s.', [
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
	// A first failure is an increase only beside a 0.
	for (const network of networks) {
		for (const result of ['done', 'failed', 'skipped']) polls.inc({ network, result }, 0)
		for (const kind of [...allKinds, 'removed']) alerts.inc({ network, kind }, 0)
		unexplained.inc({ network }, 0)
		disagreements.inc({ network }, 0)
	}
	for (const receiver of configured) for (const result of deliveryResults) deliveries.inc({ receiver, result }, 0)

	/** What a restart must not forget, and what other programs may have changed. */
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

	return {
		polled(network, poll) {
			polls.inc({ network, result: 'done' })
			checkpoint.set({ network }, Number(poll.checkpoint))
			head.set({ network }, Number(poll.head))
			lag.set({ network }, Math.max(0, Number(poll.target - poll.checkpoint)))
			lastPoll.set({ network }, poll.atMs / 1000)
			for (const [kind, count] of Object.entries(poll.alerts)) alerts.inc({ network, kind }, count)
			unexplained.inc({ network }, poll.alerts.unexplained ?? 0)
			alerts.inc({ network, kind: 'removed' }, poll.retracted)
			disagreements.inc({ network }, poll.disagreements)
		},
		pollFailed: (network) => polls.inc({ network, result: 'failed' }),
		pollSkipped: (network) => polls.inc({ network, result: 'skipped' }),
		requested(network, request) {
			const endpoint = bounded('endpoint', hostOf(request.endpoint))
			const method = bounded('method', request.method)
			requests.inc({ network, endpoint, method, result: bounded('result', request.result) })
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
			return registry.metrics()
		},
		contentType: registry.contentType,
	}
}

/** Host and port of whatever names an endpoint: keys live behind them, passwords before. */
function hostOf(endpoint: string): string {
	return endpoint
		.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
		.replace(/[/?#].*$/s, '')
		.replace(/^.*@/s, '')
}

/** A value that is not a plain word, or one too many, counts as `other`: a label must never grow without end. */
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
