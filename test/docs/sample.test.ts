// The mail in the README (its beginning) and the webhook in docs/delivery.md are one alert: one is made from the other.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jsonSchema } from '../../src/config/jsonSchema.js'
import type { Message } from '../../src/model/alert.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { unnamedFields } from '../support/unnamedFields.js'
import { blocksOf, read } from './markdown.js'

const text = read('README.md')
const webhook = JSON.parse(blocksOf(read('docs/delivery.md'), 'json')[0] ?? '') as Message

test('default: the webhook is what the schema says, as one that is sent today', () => {
	const schema = z.fromJSONSchema(jsonSchema('alert') as z.core.JSONSchema.JSONSchema)
	expect(schema.safeParse(webhook).error).toBeUndefined()
	expect(unnamedFields(webhook)).toEqual([])
	expect(webhook.data).toHaveProperty('initiator')
})

test('default: the mail says the same, up to the ids and exact values', () => {
	const composed = composeMessage(webhook)
	const mail = blocksOf(text, 'text').find((block) => block.startsWith('Subject: '))
	const [facts, ids, ...more] = composed.text.split('\nIds and exact values\n')
	expect([ids?.includes(webhook.data.id), more]).toEqual([true, []])
	expect(mail?.trim()).toBe(`Subject: ${composed.subject}\n\n${facts?.trim()}`)
})
