import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonSchema, schemaNames } from '../../src/config/jsonSchema.js'
import type { AlertData, Message, SystemData } from '../../src/model/alert.js'
import { sampleMessage } from '../../src/notify/text/sample.js'

const committed = (name: string) => resolve(import.meta.dirname, `../../schema/${name}.json`)

describe('jsonSchema', () => {
	// After a change: npx vitest run test/config/jsonSchema.test.ts -u
	test.each(schemaNames)('the committed schema/%s.json is the one of this program', async (name) => {
		await expect(`${JSON.stringify(jsonSchema(name), null, 2)}\n`).toMatchFileSnapshot(committed(name))
	})

	test.each(['config', 'watchlist'] as const)('every key of the schema of a %s says what it is', (name) => {
		const { definitions, properties } = jsonSchema(name) as {
			definitions: Record<string, { properties: Record<string, object> }>
			properties: Record<string, object>
		}
		for (const keys of [properties, ...Object.values(definitions).map((definition) => definition.properties)]) {
			for (const [key, schema] of Object.entries(keys)) {
				expect(schema, key).toHaveProperty('description')
			}
		}
	})

	test('a watchlist as a person writes it is valid in an editor, with values quoted or not', () => {
		const watchlist = z.fromJSONSchema(jsonSchema('watchlist') as z.core.JSONSchema.JSONSchema)
		const editorReads = {
			network: 'ethereum',
			watches: [{ address: 6.63e47, label: 17, min_value: 0.5, from_block: 19000000 }, { address: '0x00' }],
		}
		expect(watchlist.safeParse(editorReads).success).toBe(true)
		expect(watchlist.safeParse({ network: 'ethereum', addresses_from: 'exchange.csv' }).success).toBe(true)
		expect(watchlist.safeParse({ network: 'ethereum', watches: [{ address: '0x00', lable: 'x' }] }).success).toBe(false)
		// What the library does not read from a schema: one of two keys, with no other beside.
		expect(jsonSchema('watchlist')).toMatchObject({
			required: ['network'],
			anyOf: [{ required: ['watches'] }, { required: ['addresses_from'] }],
			additionalProperties: false,
		})
		const config = z.fromJSONSchema(jsonSchema('config') as z.core.JSONSchema.JSONSchema)
		const settings = {
			networks: [{ name: 'base', chain_id: 8453, rpc: ['x'], confirmations: 'safe' }],
			receivers: [{ name: 'hook', type: 'webhook', url: 'x' }],
		}
		expect(config.safeParse(settings).success).toBe(true)
		expect(config.safeParse({ ...settings, receivers: [{ name: 'hook', type: 'webhook' }] }).success).toBe(false)
	})
})

describe('the schema of an alert', () => {
	const schema = z.fromJSONSchema(jsonSchema('alert') as z.core.JSONSchema.JSONSchema)
	const hash = `0x${'ab'.repeat(32)}` as const
	const address = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
	const alert: AlertData & { deliveryId: string } = {
		id: `1:${hash}:0_1_2:deployment:${address.toLowerCase()}`,
		deliveryId: `msg_${'0'.repeat(32)}`,
		network: 'ethereum',
		chainId: 1,
		blockNumber: 19_000_000,
		blockHash: hash,
		blockTimestamp: '2026-11-20T10:00:00.000Z',
		txHash: hash,
		txIndex: 3,
		traceAddress: [0, 1, 2],
		kind: 'deployment',
		frameType: 'create2',
		category: 'internal',
		from: address,
		to: address,
		contractAddress: address,
		initiator: address,
		creatorConfirmed: true,
		valueWei: '1500000000000000000',
		value: '1.5',
		asset: 'ETH',
		watch: { address, label: null, tags: ['cold'], watchlist: 'treasury.yaml' },
		counterpartyLabel: 'Exchange',
		direction: 'in',
		finality: 'latest',
		detectedAt: '2026-11-20T10:00:03.000Z',
		lagSeconds: 3,
		late: true,
		lateReason: 'the endpoint was away',
		links: { tx: 'https://x.example/tx/1', to: 'https://x.example/a', block: 'https://x.example/b' },
	}
	const optional = ['contractAddress', 'initiator', 'creatorConfirmed', 'counterpartyLabel', 'lateReason', 'links']
	const system: SystemData & { deliveryId: string } = {
		id: 'x',
		deliveryId: 'msg_1',
		network: 'ethereum',
		chainId: 1,
		checkpoint: null,
		head: 5,
		reason: 'No endpoint answers.',
	}
	const messageOf = (type: Message['type'], data: object) => ({ type, timestamp: '2026-11-20T10:00:03.000Z', data })
	const isRight = (message: object) => schema.safeParse(message).success

	test('takes every kind of message', () => {
		for (const type of ['alert.transfer', 'alert.deployment', 'alert.removed', 'test'] as const) {
			expect(isRight(messageOf(type, alert)), type).toBe(true)
		}
		expect(isRight(messageOf('test', { ...alert, test: true }))).toBe(true)
		expect(isRight(messageOf('alert.transfer', { ...alert, from: null, txIndex: null, frameType: 'reward' }))).toBe(
			true,
		)
		for (const type of ['system.stalled', 'system.recovered'] as const) {
			expect(isRight(messageOf(type, system)), type).toBe(true)
		}
		expect(isRight(messageOf('system.gap', { ...system, fromBlock: 7, toBlock: 7 }))).toBe(true)
		expect(isRight(messageOf('system.gap', { ...system, fromBlock: '7', toBlock: 7 }))).toBe(false)
		const digest = {
			id: 'digest:1',
			deliveryId: 'msg_1',
			alerts: [messageOf('alert.transfer', alert), messageOf('alert.removed', alert)],
			held: { from: alert.detectedAt, to: alert.detectedAt },
		}
		expect(isRight(messageOf('alert.digest', digest))).toBe(true)
		expect(isRight(messageOf('alert.digest', { ...digest, alerts: [messageOf('test', alert)] }))).toBe(false)
		const undelivered = {
			id: 'undelivered:1',
			deliveryId: 'msg_1',
			receiver: 'ops-hook',
			recipient: null,
			state: 'parked',
			count: 3,
			reason: 'hooks.example answered 410: the receiver has been removed',
			since: alert.detectedAt,
		}
		expect(isRight(messageOf('system.undelivered', undelivered))).toBe(true)
		expect(isRight(messageOf('system.undelivered', { ...undelivered, state: 'retry' }))).toBe(false)
		expect(isRight(messageOf('system.recovered', { ...undelivered, ends: 'undelivered' }))).toBe(true)
		expect(isRight(messageOf('system.recovered', { ...undelivered, ends: 'refused' }))).toBe(false)
		expect(isRight(messageOf('alert.transfer', { ...alert, insteadOf: 'ops-hook' }))).toBe(true)
	})

	test('takes the sample that `test-send` sends', () => {
		expect(isRight(sampleMessage('msg_1', Date.UTC(2026, 10, 20)))).toBe(true)
	})

	test('misses every field that is always there', () => {
		for (const key of Object.keys(alert)) {
			const { [key as keyof typeof alert]: _, ...rest } = alert
			expect(isRight(messageOf('alert.transfer', rest)), key).toBe(optional.includes(key))
		}
	})

	test.each([
		['a number above 2^53 as a number', { ...alert, valueWei: 1.5e18 }],
		['an id with a full stop', { ...alert, deliveryId: 'msg.1' }],
		['a kind that there is not', { ...alert, kind: 'approval' }],
		['a direction of a watch', { ...alert, direction: 'both' }],
	])('refuses %s', (_, data) => {
		expect(isRight(messageOf('alert.transfer', data))).toBe(false)
	})
})
