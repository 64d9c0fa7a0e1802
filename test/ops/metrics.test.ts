import { describe, expect, test } from 'vitest'
import type { Hash } from '../../src/model/glossary.js'
import type { StateSummary } from '../../src/model/state.js'
import { createMetrics, type PollFacts } from '../../src/ops/metrics.js'

const hash = `0x${'ab'.repeat(32)}` as Hash

function stateOf(
	receivers: Record<string, { pending: number; held: number; parked: number; dead: number }> = {},
): StateSummary {
	const ref = (number: bigint) => ({ number, hash })
	return {
		networks: new Map([
			['ethereum', { chainId: 1, checkpoint: ref(100n), settled: ref(90n), backfills: [], gaps: [], updatedAtMs: 0 }],
		]),
		receivers: new Map(
			Object.entries(receivers).map(([name, counts]) => [name, { ...counts, delivered: 0, lastDeliveredAtMs: null }]),
		),
	}
}

const bears = { calls: ['trace_filter'], inFlightLimit: 4, rateLimit: null }

function metricsOf(summary: () => StateSummary = stateOf) {
	return createMetrics({ version: '1.2.3', summary: async () => summary(), process: false })
}

const poll: PollFacts = {
	head: 110n,
	target: 105n,
	checkpoint: 103n,
	alerts: { transfer: 2, deployment: 1 },
	retracted: 1,
	disagreements: 0,
	atMs: 1_700_000_000_500,
}

/** The samples of a text, without help and types. */
async function samples(metrics: ReturnType<typeof metricsOf>) {
	const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
	return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

describe('createMetrics', () => {
	test('default: a counter of a receiver or a network is at 0 before its first event', async () => {
		const of = { networks: ['ethereum'], receivers: ['hook'] }
		const found = await samples(createMetrics({ version: '1', summary: async () => stateOf(), process: false, ...of }))
		for (const result of ['delivered', 'retry', 'parked', 'dead'])
			expect(found.get(`tracewatch_deliveries_total{receiver="hook",result="${result}"}`)).toBe(0)
		for (const status of ['pending', 'held', 'parked', 'dead'])
			expect(found.get(`tracewatch_deliveries_${status}{receiver="hook"}`)).toBe(0)
		for (const result of ['done', 'failed', 'skipped'])
			expect(found.get(`tracewatch_polls_total{network="ethereum",result="${result}"}`)).toBe(0)
		expect(found.get('tracewatch_alerts_total{network="ethereum",kind="transfer"}')).toBe(0)
	})

	test('default: before anything happened the state and the program are known', async () => {
		const found = await samples(metricsOf(() => stateOf({ hook: { pending: 3, held: 0, parked: 1, dead: 2 } })))
		expect(found.get('tracewatch_checkpoint_block{network="ethereum"}')).toBe(100)
		expect(found.get('tracewatch_deliveries_pending{receiver="hook"}')).toBe(3)
		expect(found.get('tracewatch_deliveries_parked{receiver="hook"}')).toBe(1)
		expect(found.get('tracewatch_deliveries_dead{receiver="hook"}')).toBe(2)
		expect(found.get('tracewatch_config_last_reload_successful')).toBe(1)
		expect(found.get(`tracewatch_build_info{version="1.2.3",node="${process.version}"}`)).toBe(1)
	})

	test('default: a poll', async () => {
		const metrics = metricsOf(() => ({ networks: new Map(), receivers: new Map() }))
		metrics.polled('ethereum', poll)
		metrics.polled('ethereum', { ...poll, alerts: { transfer: 1, deployment: 0 }, retracted: 0, disagreements: 0 })
		const found = await samples(metrics)
		const of = (name: string, labels = '') => found.get(`tracewatch_${name}{network="ethereum"${labels}}`)
		expect(of('checkpoint_block')).toBe(103)
		expect(of('head_block')).toBe(110)
		expect(of('lag_blocks')).toBe(2)
		expect(of('last_poll_timestamp_seconds')).toBe(1_700_000_000.5)
		expect(of('alerts_total', ',kind="transfer"')).toBe(3)
		expect(of('alerts_total', ',kind="deployment"')).toBe(1)
		expect(of('alerts_total', ',kind="removed"')).toBe(1)
		expect(of('polls_total', ',result="done"')).toBe(2)
	})

	test('default: polls that fail, ticks that are skipped, networks that stall, watches', async () => {
		const metrics = metricsOf()
		metrics.pollFailed('a')
		metrics.pollSkipped('a')
		metrics.pollSkipped('a')
		metrics.stalled('a', true)
		metrics.stalled('b', false)
		metrics.watching('a', 7)
		const found = await samples(metrics)
		expect(found.get('tracewatch_polls_total{network="a",result="failed"}')).toBe(1)
		expect(found.get('tracewatch_polls_total{network="a",result="skipped"}')).toBe(2)
		expect(found.get('tracewatch_stalled{network="a"}')).toBe(1)
		expect(found.get('tracewatch_stalled{network="b"}')).toBe(0)
		expect(found.get('tracewatch_watches{network="a"}')).toBe(7)
	})

	test('default: requests and deliveries', async () => {
		const metrics = metricsOf()
		const request = {
			endpoint: 'node.example.org:8545',
			method: 'trace_filter',
			result: 'ok',
			durationMs: 1500,
			...bears,
			calls: ['eth_getBlockByNumber', 'trace_filter', 'trace_filter'],
		}
		metrics.requested('ethereum', request)
		metrics.requested('ethereum', { ...request, result: 'timeout' })
		metrics.provedLogs('ethereum', { receipts: 16, none: 3 })
		metrics.provedLogs('ethereum', { receipts: 1, none: 0 })
		metrics.attempted('hook', 'delivered')
		metrics.attempted('hook', 'retry')
		metrics.attempted('hook', 'retry')
		const found = await samples(metrics)
		const labels = 'network="ethereum",endpoint="node.example.org:8545",method="trace_filter"'
		expect(found.get(`tracewatch_rpc_requests_total{${labels},result="ok"}`)).toBe(1)
		expect(found.get(`tracewatch_rpc_requests_total{${labels},result="timeout"}`)).toBe(1)
		expect(found.get(`tracewatch_rpc_calls_total{${labels}}`)).toBe(4)
		expect(found.get(`tracewatch_rpc_request_duration_seconds_sum{${labels}}`)).toBe(3)
		expect(found.get(`tracewatch_rpc_request_duration_seconds_bucket{le="1",${labels}}`)).toBe(0)
		expect(found.get(`tracewatch_rpc_request_duration_seconds_bucket{le="2.5",${labels}}`)).toBe(2)
		expect(found.get('tracewatch_log_blocks_total{network="ethereum",proof="receipts"}')).toBe(17)
		expect(found.get('tracewatch_log_blocks_total{network="ethereum",proof="none"}')).toBe(3)
		expect(found.get('tracewatch_deliveries_total{receiver="hook",result="delivered"}')).toBe(1)
		expect(found.get('tracewatch_deliveries_total{receiver="hook",result="retry"}')).toBe(2)
	})

	test('behavior: every public name is there, each with a help text', async () => {
		const metrics = metricsOf(() => stateOf({ hook: { pending: 0, held: 0, parked: 0, dead: 0 } }))
		const text = await metrics.text()
		for (const name of [
			'checkpoint_block',
			'head_block',
			'lag_blocks',
			'alerts_total',
			'deliveries_total',
			'deliveries_pending',
			'rpc_requests_total',
			'rpc_request_duration_seconds',
			'config_last_reload_successful',
		])
			expect(text).toMatch(new RegExp(`^# HELP tracewatch_${name} \\S.+$`, 'm'))
		expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
	})

	test('behavior: a failed reload shows until one succeeds', async () => {
		const metrics = metricsOf()
		metrics.reloaded(false)
		expect((await samples(metrics)).get('tracewatch_config_last_reload_successful')).toBe(0)
		metrics.reloaded(true)
		expect((await samples(metrics)).get('tracewatch_config_last_reload_successful')).toBe(1)
	})

	test('behavior: a receiver that has gone from the state has no number left', async () => {
		let receivers: Parameters<typeof stateOf>[0] = { old: { pending: 1, held: 0, parked: 0, dead: 0 } }
		const metrics = metricsOf(() => stateOf(receivers))
		await metrics.text()
		receivers = { hook: { pending: 1, held: 0, parked: 0, dead: 0 } }
		expect(await metrics.text()).not.toContain('"old"')
	})

	test.each([
		['https://user:k3y@node.example.org/k3y/evm?k3y=1#k3y', 'node.example.org'],
		['node.example.org:8545/k3y', 'node.example.org:8545'],
		['[::1]:8545', '[::1]:8545'],
		['k3y in a sentence', 'other'],
	])('behavior: the endpoint %s is labelled %s', async (endpoint, label) => {
		const metrics = metricsOf()
		metrics.requested('ethereum', { endpoint, method: 'eth_chainId', result: 'ok', durationMs: 1, ...bears })
		const text = await metrics.text()
		expect(text).toContain(`endpoint="${label}"`)
		expect(text).not.toContain('k3y')
	})

	test('default: the limits of an endpoint are shown as last seen; a limit that is forgotten goes', async () => {
		const metrics = metricsOf()
		const request = { endpoint: 'a', method: 'eth_chainId', calls: [], result: 'rate', durationMs: 1 }
		metrics.requested('ethereum', { ...request, inFlightLimit: 2, rateLimit: 12.5 })
		const labels = '{network="ethereum",endpoint="a"}'
		expect((await samples(metrics)).get(`tracewatch_rpc_in_flight_limit${labels}`)).toBe(2)
		expect((await samples(metrics)).get(`tracewatch_rpc_rate_limit${labels}`)).toBe(12.5)
		metrics.requested('ethereum', { ...request, inFlightLimit: 3, rateLimit: null })
		expect((await samples(metrics)).get(`tracewatch_rpc_in_flight_limit${labels}`)).toBe(3)
		expect((await samples(metrics)).has(`tracewatch_rpc_rate_limit${labels}`)).toBe(false)
	})

	test('behavior: no label grows without end', async () => {
		const metrics = metricsOf()
		for (let n = 0; n < 1000; n += 1)
			metrics.requested('ethereum', {
				...bears,
				endpoint: 'a',
				method: `m${n}`,
				calls: [],
				result: 'ok',
				durationMs: 1,
			})
		const text = await metrics.text()
		expect(text.match(/^tracewatch_rpc_requests_total\{/gm)).toHaveLength(65)
		expect(text).toContain('method="other",result="ok"} 936')
	})

	test('behavior: the memory and time of the process are shown unless they are left out', async () => {
		const metrics = createMetrics({ version: '1', summary: async () => stateOf() })
		expect(await metrics.text()).toContain('process_resident_memory_bytes')
		expect(await metricsOf().text()).not.toContain('process_resident_memory_bytes')
	})
})
