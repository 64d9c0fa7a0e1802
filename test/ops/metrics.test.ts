import { expect, test } from 'vitest'
import type { Hash } from '../../src/model/glossary.js'
import type { StateSummary } from '../../src/model/state.js'
import type { NetworkHealth } from '../../src/model/trouble.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { samplesOf } from '../support/samplesOf.js'

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

function metricsOf(summary: () => StateSummary = stateOf) {
	return createMetrics({ version: '1.2.3', summary: async () => summary(), process: false })
}

test('default: a counter of a receiver or a network is at 0 before its first event', async () => {
	const of = { networks: ['ethereum'], receivers: ['hook'] }
	const found = await samplesOf(createMetrics({ version: '1', summary: async () => stateOf(), process: false, ...of }))
	for (const result of ['delivered', 'retry', 'parked', 'dead'])
		expect(found.get(`tracewatch_deliveries_total{receiver="hook",result="${result}"}`)).toBe(0)
	for (const status of ['pending', 'held', 'parked', 'dead'])
		expect(found.get(`tracewatch_deliveries_${status}{receiver="hook"}`)).toBe(0)
	for (const result of ['done', 'failed', 'skipped'])
		expect(found.get(`tracewatch_polls_total{network="ethereum",result="${result}"}`)).toBe(0)
	expect(found.get('tracewatch_alerts_total{network="ethereum",kind="transfer"}')).toBe(0)
})

test('default: before anything happened the state and the program are known', async () => {
	const found = await samplesOf(metricsOf(() => stateOf({ hook: { pending: 3, held: 0, parked: 1, dead: 2 } })))
	expect(found.get('tracewatch_checkpoint_block{network="ethereum"}')).toBe(100)
	expect(found.get('tracewatch_deliveries_pending{receiver="hook"}')).toBe(3)
	expect(found.get('tracewatch_deliveries_parked{receiver="hook"}')).toBe(1)
	expect(found.get('tracewatch_deliveries_dead{receiver="hook"}')).toBe(2)
	expect(found.get('tracewatch_config_last_reload_successful')).toBe(1)
	expect(found.get(`tracewatch_build_info{version="1.2.3",node="${process.version}"}`)).toBe(1)
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

test('behavior: a receiver that has gone from the state has no number left', async () => {
	let receivers: Parameters<typeof stateOf>[0] = { old: { pending: 1, held: 0, parked: 0, dead: 0 } }
	const metrics = metricsOf(() => stateOf(receivers))
	await metrics.text()
	receivers = { hook: { pending: 1, held: 0, parked: 0, dead: 0 } }
	expect(await metrics.text()).not.toContain('"old"')
})

test('behavior: a head that is not known has no number, and a lag that is not known has none', async () => {
	const well = { ok: true, reason: null }
	const sampled = async (unknown: Partial<NetworkHealth>) => {
		const line = { ...well, network: 'ethereum', checkpoint: 100, head: null, lastPollAt: null, ...unknown }
		const health = async () => ({ ...well, networks: [line] })
		const metrics = createMetrics({ version: '1', summary: async () => stateOf(), process: false, health })
		metrics.head.set({ network: 'ethereum' }, 120)
		metrics.lag.set({ network: 'ethereum' }, 20)
		const found = await samplesOf(metrics)
		return ['head_block', 'lag_blocks'].map((name) => found.get(`tracewatch_${name}{network="ethereum"}`))
	}
	expect(await sampled({})).toEqual([120, 20])
	expect(await sampled({ isBehindCheckpoint: true })).toEqual([120, undefined])
	expect(await sampled({ headUnknownSince: '2026-11-25T00:00:00.000Z' })).toEqual([undefined, undefined])
})

test('behavior: the memory and time of the process are shown unless they are left out', async () => {
	const metrics = createMetrics({ version: '1', summary: async () => stateOf() })
	expect(await metrics.text()).toContain('process_resident_memory_bytes')
	expect(await metricsOf().text()).not.toContain('process_resident_memory_bytes')
})
