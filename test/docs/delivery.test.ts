// docs/delivery.md says what the code does: a row that only one of them has is a failure.
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ZodType } from 'zod'
import { retryAfterMs } from '../../src/base/net/retryAfter.js'
import { alert } from '../../src/config/alertSchema.js'
import { jsonSchema } from '../../src/config/jsonSchema.js'
import { LONGEST_REST_MS } from '../../src/core/outbox/refusals.js'
import { allKinds, allRecords } from '../../src/kinds/all.js'
import { MOST_ALERTS, MOST_BYTES } from '../../src/notify/delivery/batch.js'
import { GIVE_UP_AFTER_MS, RETRY_CEILINGS_MS } from '../../src/notify/delivery/decide.js'
import {
	httpPolicy,
	judgeSmtp,
	judgeStatus,
	LONGEST_WAIT_MS,
	type SmtpPhase,
	smtpPolicy,
} from '../../src/notify/delivery/policy.js'
import type { FormatName } from '../../src/notify/webhook/formats/byName.js'
import { formats } from '../../src/notify/webhook/formats/byName.js'
import type { Reply } from '../../src/notify/webhook/formats/format.js'
import { createWebhookReceiver } from '../../src/notify/webhook/webhook.js'
import { deliveryOf, idOf, never } from '../notify/samples.js'
import { temporaryFolder } from '../support/folder.js'
import { startHookServer } from '../support/hookServer.js'
import { START_MS, standingClock } from '../support/standingClock.js'
import { blocksOf, read, spansOf, tableOf, tablesOf } from './markdown.js'

const text = read('docs/delivery.md')
const answers = tableOf(text, 'outcome', 'HTTP answer', 'SMTP answer', 'then').map(
	([outcome = '', http = '', smtp = '']) => ({ outcome, http, smtp }),
)

describe('the tables of docs/delivery.md', () => {
	test('default: the outcome of each HTTP status is that of the program', () => {
		// A single status before a range, a range before "anything else".
		const ranges = answers.flatMap(({ outcome, http }) =>
			[...http.matchAll(/(\d{3})(?: to (\d{3}))?/g)].map(
				([, from, to = from]) => [outcome, Number(from), Number(to)] as const,
			),
		)
		const otherwise = answers.find(({ http }) => http.includes('anything else'))?.outcome
		const saidOf = (status: number) =>
			(ranges.find(([, from, to]) => from === status && to === status) ??
				ranges.find(([, from, to]) => from <= status && status <= to))?.[0] ?? otherwise
		expect(ranges.length).toBeGreaterThan(5)
		for (let status = 0; status <= 999; status++) expect(judgeStatus(status).verdict, `${status}`).toBe(saidOf(status))
	})

	test('default: the outcome of each SMTP answer is that of the program', () => {
		const saidOf = (answer: string) => answers.find(({ smtp }) => smtp.includes(answer))?.outcome
		expect(saidOf('503 except at the login')).toBe('retry')
		const phases: readonly SmtpPhase[] = ['connect', 'login', 'mail']
		for (const phase of phases) {
			for (const [reply, form] of [
				['421 4.3.0', '4xx'],
				['450 4.2.1', '4xx'],
				['535 5.7.8', '5xx'],
				['550 5.7.1', '5xx'],
				['550 5.1.1', '5xx'],
				['554', '5xx'],
			] as const)
				expect(judgeSmtp(phase, reply).verdict, `${phase}: ${reply}`).toBe(saidOf(form))
			expect(judgeSmtp(phase, '503 5.5.1').verdict, phase).toBe(saidOf(phase === 'login' ? '5xx' : '503'))
		}
	})

	test('default: every outcome is explained', () => {
		const outcomes = [...new Set(['dead', ...[...httpPolicy, ...smtpPolicy].map(({ verdict }) => verdict)])]
		expect(answers.map(({ outcome }) => outcome).sort()).toEqual([...outcomes].sort())
	})

	test('default: the waits between retries, and their end', () => {
		const waits = RETRY_CEILINGS_MS.map(inWords)
		const [first, ...rest] = waits.slice(0, -1)
		const words = `waits at most ${first}, then ${rest.join(', ')}, and ${waits.at(-1)} each time after that`
		const prose = text.replaceAll('\n', ' ')
		expect(prose).toContain(words)
		expect(prose).toContain(`After ${GIVE_UP_AFTER_MS / 3_600_000} hours it is dead`)
		expect(prose).toContain(`at most ${LONGEST_REST_MS / 60_000} minutes`)
		expect(prose).toContain(`up to ${LONGEST_WAIT_MS / 3_600_000} hours`)
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
		expect(text).toContain(`at most ${MOST_ALERTS} alerts and ${MOST_BYTES / 1_000} kB`)
	})

	test('default: every type of message that a receiver may get is explained', () => {
		const schema = JSON.stringify(jsonSchema('alert'))
		const named = new Set([...schema.matchAll(/"((?:alert|system)\.[a-z]+|test)"/g)].map(([, type = '']) => type))
		expect(named.size).toBeGreaterThan(5)
		for (const type of named) expect(text).toContain(`\`${type}\``)
	})

	test('default: every kind is there, and no other', () => {
		const kinds = tableOf(text, 'kind', 'what happened', 'reported').flatMap(([kind = '']) => spansOf(kind))
		expect([...kinds].sort()).toEqual([...allKinds].sort())
	})

	test('default: every field of an alert is there', () => {
		const fields = new Set<string>()
		const collect = (schema: unknown): void => {
			if (typeof schema !== 'object' || schema === null) return
			for (const [key, value] of Object.entries(schema)) {
				if (key === 'properties') for (const name of Object.keys(value)) fields.add(name)
				collect(value)
			}
		}
		collect(jsonSchema('alert'))
		expect(fields.size).toBeGreaterThan(80)
		const named = new Set(text.match(/\b[a-z]\w*\b/gi))
		expect([...fields].filter((name) => !named.has(name))).toEqual([])
	})

	// After a change: npx vitest run test/docs/delivery.test.ts -u
	test('default: the tables of fields are those of the schema', async () => {
		const every = [['field', 'means'], ...rowsOf(alert.shape)]
		const single = allRecords.flatMap(({ kind, own }) =>
			rowsOf(own.shape).map((row, at) => [at === 0 ? `<a id="${kind}"></a>\`${kind}\`` : '', ...row]),
		)
		const filled = [
			['fields of every alert', every],
			['fields of single kinds', [['kind', 'field', 'means'], ...single]],
		] as const
		const whole = filled.reduce((all, [name, rows]) => withTable(all, name, rows), text)
		await expect(whole).toMatchFileSnapshot(resolve(import.meta.dirname, '../../docs/delivery.md'))
	})

	test('default: every form of Retry-After is understood as it stands there', () => {
		const nowMs = Date.parse('Fri, 20 Nov 2026 18:00:00 GMT')
		const understood = tableOf(text, 'form', 'example').map(([, example = '']) => {
			const [code = ''] = spansOf(example)
			const header = /^Retry-After: (.+)$/.exec(code)?.[1] ?? null
			return retryAfterMs(header, header === null ? code : '', nowMs, LONGEST_WAIT_MS)
		})
		expect(understood).toEqual([120_000, 251_000, 1_000, 30_000])
	})
})

function rowsOf(shape: Readonly<Record<string, unknown>>): readonly (readonly string[])[] {
	return Object.entries(shape).map(([field, schema]) => {
		const { description } = schema as ZodType
		if (description === undefined) throw new Error(`${field} has no description`)
		return [`\`${field}\``, description]
	})
}

/** Fills the place of a table: it begins with a comment that names it. */
function withTable(document: string, name: string, rows: readonly (readonly string[])[]): string {
	const [head = [], ...others] = rows
	const lines = [head, head.map(() => '---'), ...others].map((cells) =>
		`| ${cells.join(' | ')} |`.replaceAll('|  |', '| |'),
	)
	const place = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end of the fields -->)`)
	expect(document).toMatch(place)
	return document.replace(place, (_, begin, end) => `${begin}\n${lines.join('\n')}\n\n${end}`)
}

/** Answers that some service means in its own way. */
const ownAnswers: readonly Reply[] = [
	{ status: 200, body: '{}' },
	{ status: 400, body: '{"ok":false,"description":"Bad Request: chat not found"}' },
	{ status: 403, body: '{"ok":false,"description":"Forbidden: bot was blocked by the user"}' },
	{ status: 400, body: '{"status":"invalid event","errors":["\'routing_key\' is invalid"]}' },
]

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

	async function deliver(settings: { readonly secret: string | null }, clock: () => number = standingClock) {
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
		const old = await deliver({ secret }, () => START_MS - 301_000)
		expect(verify(old.headers, old.body)).toBeNull()
		const unsigned = await deliver({ secret: null })
		expect(verify(unsigned.headers, unsigned.body)).toBeNull()
		expect(verify({}, body)).toBeNull()
	})
})
