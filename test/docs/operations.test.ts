// docs/operations.md is read at night by people who believe it: what it names must exist.
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createObserver } from '../../src/daemon/observer.js'
import type { Hash } from '../../src/model/glossary.js'
import type { StateSummary } from '../../src/model/state.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { read, root, spansOf, tableOf, tablesOf } from './markdown.js'

const text = read('docs/operations.md')
const code = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
	.filter((path) => path.endsWith('.ts'))
	.map((path) => read(`src/${path}`))
	.join('\n')

describe('the metrics of docs/operations.md', () => {
	test('default: names and labels are those of the program, no more and no fewer', async () => {
		const rows = tableOf(text, 'metric', 'labels', 'means', 'raise an alarm when')
		const documented = rows.map(([name = '', labels = '']) => `${spansOf(name)[0]} {${labels}}`)
		expect([...documented].sort()).toEqual([...(await exposed())].sort())
	})
})

/** Every metric with its labels, after each of them has happened once. */
async function exposed(): Promise<readonly string[]> {
	const ref = { number: 1n, hash: `0x${'ab'.repeat(32)}` as Hash }
	const books = { closedTo: 1, closed: 1, kept: 1, open: [], openCount: 0, reason: null }
	const seen = { head: 1, books }
	const network = { chainId: 1, checkpoint: ref, settled: ref, backfills: [], gaps: [], updatedAtMs: 0, seen }
	const receiver = { pending: 1, held: 0, parked: 1, dead: 1, delivered: 1, lastDeliveredAtMs: null }
	const state: StateSummary = { networks: new Map([['n', network]]), receivers: new Map([['r', receiver]]) }
	const metrics = createMetrics({ version: '1.2.3', summary: async () => state, process: false })
	const counts = { transfer: 1, deployment: 1, unexplained: 1 }
	const events = createObserver({
		...{ metrics },
		vitals: () => ({ reported: () => undefined, scanned: () => undefined }),
	})
	const found = { alerts: counts, retracted: 1, disagreements: 0, blocks: 1n, unread: [], behind: false }
	events.reported('n', { head: 1n, target: 1n, checkpoint: 1n, ...found })
	events.ended('n', 'failed')
	const request = {
		endpoint: 'node.example.org',
		method: 'eth_chainId',
		calls: ['eth_chainId'],
		result: 'ok',
		durationMs: 1,
	}
	events.requested('n', { ...request, inFlightLimit: 4, rateLimit: 15 })
	events.provedLogs('n', { receipts: 1, bloom: 0, witness: 0, none: 0 })
	events.attempted('r', { result: 'delivered' })
	metrics.watches.set({ network: 'n' }, 1)
	metrics.stalled.set({ network: 'n' }, 0)
	const lines = (await metrics.text()).split('\n')
	return lines.flatMap((line) => {
		const name = /^# TYPE (\S+)/.exec(line)?.[1]
		if (name === undefined) return []
		const sample = lines.find((one) => new RegExp(`^${name}(_sum)?[{ ]`).test(one))
		if (sample === undefined) throw new Error(`${name} never happened`)
		return [`${name} {${[...sample.matchAll(/(\w+)="/g)].map(([, label]) => label).join(', ')}}`]
	})
}

describe('messages in docs/operations.md are printed by the program', () => {
	const said = tablesOf(text)
		.filter(({ header: [first] }) => first === 'the log says' || first === 'it says')
		.flatMap(({ rows }) => rows.flatMap(([first = '']) => spansOf(first)))
		.filter((message) => message !== 'FILE:LINE:COLUMN: …')

	/** Source text as it will be printed: without the escapes of quotes and backticks. */
	const printed = code.replaceAll(/\\(['`])/g, '$1')

	test('default: there is something to look up', () => {
		expect(said.length).toBeGreaterThan(20)
	})

	test.each(said)('default: “%s” stands in the code', (message) => {
		for (const piece of message.split('…').map((one) => one.replace(/^[\s:]+|[\s:]+$/g, ''))) {
			if (piece !== '') expect(printed.includes(piece), piece).toBe(true)
		}
	})

	test('default: every warning and every error of the log is there', () => {
		const call =
			/\.(?:warn|error)\(\s*(?:\{[^{}]*\}|\w+(?:\([^()]*\))?),\s*(?:'((?:[^'\\]|\\.)+)'|`((?:[^`\\]|\\.)+)`)/g
		const messages = [...code.matchAll(call)].map(([, plain, template]) => startOf(plain ?? template ?? ''))
		expect(messages.length).toBeGreaterThan(20)
		const starts = said.map(startOf)
		expect(
			messages.filter((message) => !starts.some((one) => message.startsWith(one) || one.startsWith(message))),
		).toEqual([])
	})

	/** Up to the first thing that changes. */
	function startOf(message: string): string {
		return (message.split(/\$\{|…/).find((piece) => piece.length > 0) ?? '').trim()
	}

	test('default: every kind of failure is there, and no other', () => {
		const union = /export type RpcErrorKind =\n((?:\t\| '[a-z-]+'\n)+)/.exec(code)?.[1] ?? ''
		const kinds = [...union.matchAll(/'([a-z-]+)'/g)].map(([, kind]) => kind)
		const documented = tableOf(text, 'kind of failure', 'means', 'do').flatMap(([first = '']) => spansOf(first))
		expect(kinds.length).toBeGreaterThan(5)
		expect([...documented].sort()).toEqual([...kinds].sort())
	})
})
