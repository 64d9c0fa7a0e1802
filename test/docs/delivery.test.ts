// docs/delivery.md says what the code does: a row that only one of them has is a failure.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { retryAfterMs } from '../../src/base/net/retryAfter.js'
import { jsonSchema } from '../../src/config/jsonSchema.js'
import { LONGEST_REST_MS } from '../../src/core/outbox/refusals.js'
import { giveUpAfterMs, retryCeilingsMs } from '../../src/notify/delivery/deliveryBackoff.js'
import { mostAlerts, mostBytes } from '../../src/notify/delivery/held/digestChunks.js'
import { httpPolicy, type SmtpPhase, smtpPolicy } from '../../src/notify/delivery/policy.js'

import { formats } from '../../src/notify/webhook/formats/byName.js'
import type { FormatName, Reply } from '../../src/notify/webhook/formats/format.js'
import { createWebhookReceiver } from '../../src/notify/webhook/webhook.js'
import { deliveryOf, idOf, never } from '../notify/samples.js'
import { temporaryFolder } from '../support/folder.js'
import { startHookServer } from '../support/hookServer.js'
import { blocksOf, read, spansOf, tableOf, tablesOf } from './markdown.js'

const text = read('docs/delivery.md')

describe('the tables of docs/delivery.md', () => {
	test('default: HTTP answers, in the order in which they decide', () => {
		const rows = httpPolicy.map(({ from, to, verdict, meaning }) => {
			const status = from === 0 ? 'anything else' : from === to ? `${from}` : `${from} to ${to}`
			return [status, verdict, meaning]
		})
		expect(tableOf(text, 'status', 'outcome', 'meaning')).toEqual(rows)
	})

	test('default: SMTP answers, in the order in which they decide', () => {
		const rows = smtpPolicy.map(({ phases, reply, verdict, meaning }) => [
			phases.length === allPhases.length ? 'at any time' : phases.join(', '),
			replies[reply.source] ?? `no words for ${reply.source}`,
			verdict,
			meaning,
		])
		expect(tableOf(text, 'when', 'answer', 'outcome', 'meaning')).toEqual(rows)
	})

	test('default: every outcome is explained', () => {
		const outcomes = [...new Set(['dead', ...[...httpPolicy, ...smtpPolicy].map(({ verdict }) => verdict)])]
		const explained = tableOf(text, 'outcome', 'then').map(([outcome]) => outcome)
		expect([...explained].sort()).toEqual([...outcomes].sort())
	})

	test('default: the waits between retries, and their end', () => {
		const rows = retryCeilingsMs.map((ms, at) => [
			at === retryCeilingsMs.length - 1 ? `${at + 1} and later` : `${at + 1}`,
			inWords(ms),
		])
		expect(tableOf(text, 'after failure', 'waits at most')).toEqual(rows)
		expect(text).toContain(`After ${giveUpAfterMs / 3_600_000} hours`)
		expect(text).toContain(`at most ${LONGEST_REST_MS / 60_000} minutes`)
	})

	test('default: every format is there, and what it makes of answers by itself', () => {
		const [table] = tablesOf(text).filter(({ header }) => header.includes('a repetition'))
		expect(table?.rows.flatMap(([name = '']) => spansOf(name))).toEqual(Object.keys(formats))
		const judged = tableOf(text, 'format', 'answer', 'outcome', 'meaning')
		for (const [name = '', , outcome, meaning] of judged) {
			const judge = formats[spansOf(name)[0] as FormatName].judge
			const verdicts = ownAnswers.map((reply) => judge?.(reply) ?? null)
			expect(verdicts).toContainEqual(expect.objectContaining({ verdict: outcome, meaning }))
		}
		const own = Object.values(formats).flatMap(({ judge }) => ownAnswers.map((reply) => judge?.(reply)?.meaning))
		const meanings = new Set(own.filter((meaning) => meaning !== undefined))
		expect([...meanings].sort()).toEqual(judged.map(([, , , meaning]) => meaning).sort())
	})

	test('default: how much one digest holds', () => {
		expect(text).toContain(`at most ${mostAlerts} alerts and ${mostBytes / 1_000} kB`)
	})

	test('default: every type of message that a receiver may get is explained', () => {
		const schema = JSON.stringify(jsonSchema('alert'))
		const named = new Set([...schema.matchAll(/"((?:alert|system)\.[a-z]+|test)"/g)].map(([, type = '']) => type))
		expect(named.size).toBeGreaterThan(5)
		for (const type of named) expect(text).toContain(`\`${type}\``)
	})

	test('default: every form of Retry-After is understood as it stands there', () => {
		const nowMs = Date.parse('Fri, 20 Nov 2026 18:00:00 GMT')
		const understood = tableOf(text, 'form', 'example').map(([, example = '']) => {
			const [code = ''] = spansOf(example)
			const header = /^Retry-After: (.+)$/.exec(code)?.[1] ?? null
			return retryAfterMs(header, header === null ? code : '', nowMs)
		})
		expect(understood).toEqual([120_000, 251_000, 1_000, 30_000])
	})
})

/** Answers that some service means in its own way. */
const ownAnswers: readonly Reply[] = [
	{ status: 200, body: '{}' },
	{ status: 400, body: '{"ok":false,"description":"Bad Request: chat not found"}' },
	{ status: 400, body: '{"status":"invalid event","errors":["\'routing_key\' is invalid"]}' },
]

const allPhases: readonly SmtpPhase[] = ['connect', 'login', 'sender', 'recipient', 'data']

/** The patterns of the policy in the words of the document. */
const replies: Readonly<Record<string, string>> = {
	'^none': 'no answer',
	'^4': '4xx',
	'^5': '5xx',
	'^503': '503',
	'^53[0458]': '530, 534, 535, 538',
	'^5\\d\\d 5\\.7\\.': '5xx with 5.7.x',
	'^': 'anything else',
}

function inWords(ms: number): string {
	if (ms < 60_000) return `${ms / 1_000} s`
	return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`
}

describe('the receiver in docs/delivery.md, run as it stands there', () => {
	const secret = `whsec_${Buffer.from('a secret of more than 24 bytes').toString('base64')}`
	let folder: string
	let verify: (headers: object, body: Buffer) => { readonly data: { readonly deliveryId: string } } | null

	beforeAll(async () => {
		folder = temporaryFolder()
		const [code, second] = blocksOf(text, 'js')
		if (code === undefined || second !== undefined) throw new Error('there should be one receiver for Node')
		const file = join(folder, 'verify.mjs')
		await writeFile(file, code)
		vi.stubEnv('OPS_HOOK_SECRET', secret)
		verify = (await import(/* @vite-ignore */ pathToFileURL(file).href)).verify
		vi.unstubAllEnvs()
	})

	async function deliver(settings: { readonly secret: string | null }, clock: () => number = Date.now) {
		const hook = await startHookServer()
		onTestFinished(() => hook.close())
		const target = { type: 'webhook', name: 'hook', url: hook.origin, ...settings } as const
		const receiver = createWebhookReceiver(target, { version: '1.2.3', clock })
		onTestFinished(() => receiver.close())
		expect(await receiver.deliver(deliveryOf(1), never)).toMatchObject({ result: 'delivered' })
		const [hit] = hook.hits
		if (hit === undefined) throw new Error('no request came')
		return hit
	}

	test('default: takes a real delivery, and finds its id in it', async () => {
		const { headers, body } = await deliver({ secret })
		expect(verify(headers, body)?.data.deliveryId).toBe(idOf(1))
		expect(headers['webhook-id']).toBe(idOf(1))
	})

	test('behavior: takes one that is signed with the old secret and the new one', async () => {
		const older = `whsec_${Buffer.from('the secret that was used before').toString('base64')}`
		const { headers, body } = await deliver({ secret: `${older} ${secret}` })
		expect(verify(headers, body)).not.toBeNull()
	})

	test('error: refuses what was changed, what is old, and what is not signed', async () => {
		const { headers, body } = await deliver({ secret })
		const forged = Buffer.from(body)
		forged[forged.length - 3] = (forged[forged.length - 3] ?? 0) ^ 1
		expect(verify(headers, forged)).toBeNull()
		expect(verify({ ...headers, 'webhook-id': idOf(2) }, body)).toBeNull()
		const old = await deliver({ secret }, () => Date.now() - 301_000)
		expect(verify(old.headers, old.body)).toBeNull()
		const unsigned = await deliver({ secret: null })
		expect(verify(unsigned.headers, unsigned.body)).toBeNull()
		expect(verify({}, body)).toBeNull()
	})
})
