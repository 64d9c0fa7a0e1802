// What the metrics say after events of polls, requests and deliveries.
import { expect, test } from 'vitest'
import { createObserver } from '../../src/daemon/observer.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { samplesOf } from '../support/samplesOf.js'

const limits = { calls: ['trace_filter'], inFlightLimit: 4, rateLimit: null }

function observed() {
	const summary = async () => ({ networks: new Map(), receivers: new Map() })
	const metrics = createMetrics({ version: '1.2.3', summary, process: false })
	const events = createObserver({
		metrics,
		vitals: () => ({ reported: () => undefined, scanned: () => undefined }),
	})
	return { metrics, events }
}

const poll = {
	...{ head: 110n, target: 105n, checkpoint: 103n, behind: false, blocks: 3n, unread: [] },
	...{ alerts: { transfer: 2, deployment: 1 }, retracted: 1, disagreements: 0 },
}

test('default: a poll', async () => {
	const { metrics, events } = observed()
	events.reported('ethereum', poll)
	events.reported('ethereum', { ...poll, alerts: { transfer: 1, deployment: 0 }, retracted: 0 })
	const found = await samplesOf(metrics)
	const of = (name: string, labels = '') => found.get(`tracewatch_${name}{network="ethereum"${labels}}`)
	expect(of('head_block')).toBe(110)
	expect(of('lag_blocks')).toBe(2)
	expect(of('last_poll_timestamp_seconds')).toBeGreaterThan(1_700_000_000)
	expect(of('alerts_total', ',kind="transfer"')).toBe(3)
	expect(of('alerts_total', ',kind="deployment"')).toBe(1)
	expect(of('alerts_total', ',kind="removed"')).toBe(1)
	expect(of('polls_total', ',result="done"')).toBe(2)
})

test('default: polls that fail, ticks that are skipped', async () => {
	const { metrics, events } = observed()
	events.ended('a', 'failed')
	events.ended('a', 'skipped')
	events.ended('a', 'skipped')
	const found = await samplesOf(metrics)
	expect(found.get('tracewatch_polls_total{network="a",result="failed"}')).toBe(1)
	expect(found.get('tracewatch_polls_total{network="a",result="skipped"}')).toBe(2)
})

test('default: requests and deliveries', async () => {
	const { metrics, events } = observed()
	const request = {
		...{ endpoint: 'node.example.org:8545', method: 'trace_filter', result: 'ok', durationMs: 1500, ...limits },
		calls: ['eth_getBlockByNumber', 'trace_filter', 'trace_filter'],
	}
	events.requested('ethereum', request)
	events.requested('ethereum', { ...request, result: 'timeout' })
	events.provedLogs('ethereum', { receipts: 16, none: 3, bloom: 0, witness: 0 })
	events.provedLogs('ethereum', { receipts: 1, none: 0, bloom: 0, witness: 0 })
	events.attempted('hook', { result: 'delivered' })
	events.attempted('hook', { result: 'retry', code: 'expired', reason: 'it is down' })
	events.attempted('hook', { result: 'retry', code: 'expired', reason: 'it is down' })
	const found = await samplesOf(metrics)
	const labels = 'network="ethereum",endpoint="node.example.org:8545",method="trace_filter"'
	expect(found.get(`tracewatch_rpc_requests_total{${labels},result="ok"}`)).toBe(1)
	expect(found.get(`tracewatch_rpc_requests_total{${labels},result="timeout"}`)).toBe(1)
	expect(found.get(`tracewatch_rpc_calls_total{${labels},result="ok"}`)).toBe(2)
	expect(found.get(`tracewatch_rpc_calls_total{${labels},result="timeout"}`)).toBe(2)
	expect(found.get(`tracewatch_rpc_request_duration_seconds_sum{${labels}}`)).toBe(3)
	expect(found.get(`tracewatch_rpc_request_duration_seconds_bucket{le="1",${labels}}`)).toBe(0)
	expect(found.get(`tracewatch_rpc_request_duration_seconds_bucket{le="2.5",${labels}}`)).toBe(2)
	expect(found.get('tracewatch_log_blocks_total{network="ethereum",proof="receipts"}')).toBe(17)
	expect(found.get('tracewatch_log_blocks_total{network="ethereum",proof="none"}')).toBe(3)
	expect(found.get('tracewatch_deliveries_total{receiver="hook",result="delivered"}')).toBe(1)
	expect(found.get('tracewatch_deliveries_total{receiver="hook",result="retry"}')).toBe(2)
})

test('default: the limits of an endpoint are shown as last seen; a limit that is forgotten goes', async () => {
	const { metrics, events } = observed()
	const request = { endpoint: 'a', method: 'eth_chainId', calls: [], result: 'rate', durationMs: 1 }
	events.requested('ethereum', { ...request, inFlightLimit: 2, rateLimit: 12.5 })
	const labels = '{network="ethereum",endpoint="a"}'
	expect((await samplesOf(metrics)).get(`tracewatch_rpc_in_flight_limit${labels}`)).toBe(2)
	expect((await samplesOf(metrics)).get(`tracewatch_rpc_rate_limit${labels}`)).toBe(12.5)
	events.requested('ethereum', { ...request, inFlightLimit: 3, rateLimit: null })
	expect((await samplesOf(metrics)).get(`tracewatch_rpc_in_flight_limit${labels}`)).toBe(3)
	expect((await samplesOf(metrics)).has(`tracewatch_rpc_rate_limit${labels}`)).toBe(false)
})
