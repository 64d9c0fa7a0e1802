/**
 * Metrics of what happened. Names and labels are public interface. The values of each label come from the configuration
 * or from this program, so that their number is bounded.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { isAccepted } from '../core/gaps.js'
import { isLagUnknown } from '../core/networkLine.js'
import { allKinds } from '../kinds/all.js'
import type { StateSummary } from '../model/state.js'
import type { Health } from '../model/trouble.js'

export interface MetricsOptions {
	readonly version: string
	/** Source of the pending, held, parked and dead deliveries, and of the checkpoints before the first poll. */
	readonly summary: () => Promise<StateSummary>
	/** Says of which networks the head, or how far it is, is not known now; null (default): of none. */
	readonly health?: () => Promise<Health | null>
	/** The configured names; their counters start at 0. Default: none. */
	readonly networks?: readonly string[]
	readonly receivers?: readonly string[]
	/** Also report the process's memory, processor time, file descriptors and event loop delay. Default: true. */
	readonly process?: boolean
}

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics({ process: own = true, networks = [], receivers = [], ...options }: MetricsOptions) {
	const { version, summary, health } = options
	const registry = new Registry()
	if (own) collectDefaultMetrics({ register: registry })
	const all = { ...metersOfState(registry), ...metersOfEvents(registry) }
	all.build.set({ version, node: process.version }, 1)
	all.reloadOk.set(1)
	all.reloadAt.setToCurrentTime()
	// Prometheus sees a first failure as an increase only if the counter was 0 before.
	for (const network of networks) {
		for (const result of ['done', 'failed', 'skipped']) all.polls.inc({ network, result }, 0)
		for (const kind of [...allKinds, 'removed']) all.alerts.inc({ network, kind }, 0)
		all.unexplained.inc({ network }, 0)
		all.disagreements.inc({ network }, 0)
	}
	for (const receiver of receivers)
		for (const result of ['delivered', 'retry', 'parked', 'dead']) all.deliveries.inc({ receiver, result }, 0)
	return {
		...all,
		/** All metrics in Prometheus' text format, version 0.0.4. Values from the state are read during the call. */
		async text() {
			takeState(await summary(), all, receivers)
			for (const one of (await health?.())?.networks ?? []) {
				if (one.headUnknownSince !== undefined) all.head.remove({ network: one.network })
				if (isLagUnknown(one)) all.lag.remove({ network: one.network })
			}
			return registry.metrics()
		},
		contentType: registry.contentType,
	}
}

/** Values that survive a restart, or that other processes may have changed. */
function metersOfState(registry: Registry) {
	const gauge = gauges(registry)
	return {
		checkpoint: gauge('checkpoint_block', ['network'], 'Last block scanned.'),
		booksClosed: gauge('books_closed_block', ['network'], 'Lowest block up to which balances are explained.'),
		booksOpen: gauge('books_open', ['network'], 'Watches whose balance is not explained up to now.'),
		booksUnproved: gauge('books_unproved', ['network'], 'Times a book was opened anew over unproved blocks.'),
		gaps: gauge('gap_blocks', ['network'], 'Blocks passed over because no source of any endpoint gives them.'),
		gapsAccepted: gauge('gap_blocks_accepted', ['network'], 'Those among them that a person has accepted.'),
		pending: gauge('deliveries_pending', ['receiver'], 'Deliveries not yet made.'),
		held: gauge('deliveries_held', ['receiver'], 'Deliveries that a digest keeps back.'),
		parked: gauge('deliveries_parked', ['receiver'], 'Deliveries that wait while their receiver refuses all messages.'),
		dead: gauge('deliveries_dead', ['receiver'], 'Deliveries given up, kept for `tracewatch deliveries`.'),
	}
}

function takeState(state: StateSummary, meters: ReturnType<typeof metersOfState>, configured: readonly string[]): void {
	for (const [network, { checkpoint, gaps, seen }] of state.networks) {
		meters.checkpoint.set({ network }, Number(checkpoint.number))
		meters.gaps.set({ network }, gaps.length)
		meters.gapsAccepted.set({ network }, gaps.filter(isAccepted).length)
		if (seen?.books === undefined) continue
		const { closedTo, openCount, unprovedCount = 0 } = seen.books
		if (closedTo !== null) meters.booksClosed.set({ network }, closedTo)
		meters.booksOpen.set({ network }, openCount)
		meters.booksUnproved.set({ network }, unprovedCount)
	}
	for (const status of ['pending', 'held', 'parked', 'dead'] as const) {
		meters[status].reset()
		for (const receiver of configured) meters[status].set({ receiver }, 0)
		for (const [receiver, counts] of state.receivers) meters[status].set({ receiver }, counts[status])
	}
}

/** What the daemon sets when it happens. */
function metersOfEvents(registry: Registry) {
	const registers = [registry]
	const gauge = gauges(registry)
	const counter = <L extends string>(name: string, labelNames: readonly L[], help: string) =>
		new Counter({ name: `tracewatch_${name}`, help, labelNames, registers })
	return {
		head: gauge('head_block', ['network'], 'Newest block the endpoint knew at the last poll; absent while unknown.'),
		lag: gauge('lag_blocks', ['network'], 'Target less checkpoint, in blocks; absent while unknown.'),
		lastPoll: gauge('last_poll_timestamp_seconds', ['network'], 'When a poll last ended well.'),
		stalled: gauge('stalled', ['network'], '1 while the checkpoint does not move though it should.'),
		watches: gauge('watches', ['network'], 'Watches in effect.'),
		polls: counter('polls_total', ['network', 'result'], 'Polls, by how they ended: done, failed, skipped.'),
		alerts: counter('alerts_total', ['network', 'kind'], 'Alerts sent; the kind `removed` is a retraction.'),
		unexplained: counter('unexplained_total', ['network'], 'Unexplained balance changes.'),
		disagreements: counter('disagreements_total', ['network'], 'Settled events that two endpoints gave differently.'),
		logProofs: counter(
			'log_blocks_total',
			['network', 'proof'],
			'Blocks whose logs were read, by proof of completeness.',
		),
		deliveries: counter('deliveries_total', ['receiver', 'result'], 'Attempts at deliveries, by result.'),
		requests: counter('rpc_requests_total', [...endpointMethod, 'result'], 'HTTP requests to endpoints.'),
		calls: counter('rpc_calls_total', [...endpointMethod, 'result'], 'Calls in these requests, as providers bill.'),
		durations: new Histogram({
			name: 'tracewatch_rpc_request_duration_seconds',
			help: 'How long HTTP requests to endpoints took, their bodies included.',
			labelNames: endpointMethod,
			buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
			registers,
		}),
		inFlightLimit: gauge('rpc_in_flight_limit', endpoint, 'Requests under way at once that an endpoint takes.'),
		rateLimit: gauge('rpc_rate_limit', endpoint, 'Calls per second an endpoint takes, inferred from its 429s.'),
		reloadOk: gauge('config_last_reload_successful', [], '0 while the files are wrong and older ones are in effect.'),
		reloadAt: gauge('config_last_reload_success_timestamp_seconds', [], 'When files last took effect.'),
		build: gauge('build_info', ['version', 'node'], 'Always 1; what runs is in the labels.'),
	}
}

const endpoint = ['network', 'endpoint'] as const
const endpointMethod = [...endpoint, 'method'] as const

function gauges(registry: Registry) {
	return <L extends string>(name: string, labelNames: readonly L[], help: string) =>
		new Gauge({ name: `tracewatch_${name}`, help, labelNames, registers: [registry] })
}
