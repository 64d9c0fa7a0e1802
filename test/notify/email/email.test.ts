import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEmailReceiver, type EmailSettings, MOST_IN_MAIL } from '../../../src/notify/email/email.js'
import { addressesOf, type MailServer, startMailServer } from '../../support/mailServer.js'
import {
	alertData,
	alertDeliveryOf,
	digestData,
	idOf,
	mailDeliveryOf,
	messageOf,
	never,
	payer,
	treasury,
	txHash,
} from '../samples.js'

let server: MailServer
beforeEach(async () => {
	server = await startMailServer()
})
afterEach(() => server.close())

function settingsOf(rest: Partial<EmailSettings> = {}): EmailSettings {
	return {
		type: 'email',
		name: 'mail',
		smtp: `smtp://${server.host}`,
		from: 'tracewatch@example.org',
		to: ['ops@example.org'],
		...rest,
	}
}

async function send(delivery = mailDeliveryOf(1, 'ops@example.org'), settings = settingsOf()) {
	const receiver = createEmailReceiver(settings)
	try {
		return await receiver.deliver(delivery, never)
	} finally {
		await receiver.close()
	}
}

describe('a mail', () => {
	test('default: arrives with its headers and both bodies', async () => {
		expect(await send()).toMatchObject({ result: 'delivered' })
		const [mail] = server.mails
		if (mail === undefined) throw new Error('no mail came')
		expect(mail.sender).toBe('tracewatch@example.org')
		expect(mail.recipients).toEqual(['ops@example.org'])
		expect(addressesOf(mail.parsed.from)).toEqual(['tracewatch@example.org'])
		expect(addressesOf(mail.parsed.to)).toEqual(['ops@example.org'])
		expect(mail.subject).toBe('[ethereum] Treasury received 1.500000000000000001 ETH from 0xd8dA…6045')
		expect(mail.messageId).toBe(`<${idOf(1)}@example.org>`)
		expect(mail.parsed.date?.toISOString()).toBe('2026-11-20T10:00:00.000Z')
		expect(mail.parsed.headers.get('auto-submitted')).toBe('auto-generated')
		expect(mail.parsed.headers.get('x-auto-response-suppress')).toBe('All')
		expect(mail.parsed.headers.get('x-tracewatch-alert')).toBe(alertData().id)
		expect(mail.parsed.references).toBeUndefined()
		for (const fact of [treasury, payer, txHash, '1.500000000000000001 ETH', '1500000000000000001']) {
			expect(mail.text).toContain(fact)
			expect(mail.html).toContain(fact)
		}
	})

	test('behavior: the largest digest arrives as a mail of less than 100 kB', async () => {
		const label = 'Schatzkammer für Größeres 🐋'
		const alerts = Array.from({ length: MOST_IN_MAIL }, (_, at) =>
			alertDeliveryOf(at + 1, {}, { watch: { ...alertData().watch, label } }),
		)
		const message = messageOf(digestData(alerts), 'alert.digest', idOf(3))
		await send(mailDeliveryOf(3, 'ops@example.org', { message }))
		const [mail] = server.mails
		expect(Buffer.byteLength(mail?.raw ?? '')).toBeLessThan(100_000)
		expect(Buffer.byteLength(mail?.raw ?? '')).toBeGreaterThan(10_000)
		expect(mail?.text.match(/https:\/\/explorer\.example\/tx\//g)).toHaveLength(MOST_IN_MAIL)
	})

	test('behavior: an alert 500 calls deep: no line of the mail is longer than 998 characters', async () => {
		const traceAddress = Array.from({ length: 500 }, () => 0)
		const id = `1:${txHash}:${traceAddress.join('_')}:transfer:${treasury.toLowerCase()}`
		const message = messageOf(alertData({ id, traceAddress }), 'alert.transfer')
		expect(await send(mailDeliveryOf(1, 'ops@example.org', { message }))).toMatchObject({ result: 'delivered' })
		const [mail] = server.mails
		expect(mail?.raw.split(/\r?\n/).filter(({ length }) => length > 998)).toEqual([])
		expect(mail?.text).toContain(id)
	})

	test('behavior: a removal answers the mail of its alert', async () => {
		const message = messageOf(alertData(), 'alert.removed', idOf(2))
		await send(mailDeliveryOf(2, 'ops@example.org', { message, answers: idOf(1) }))
		const [mail] = server.mails
		expect(mail?.subject).toContain('RETRACTED')
		expect(mail?.parsed.references).toBe(`<${idOf(1)}@example.org>`)
		expect(mail?.parsed.inReplyTo).toBe(`<${idOf(1)}@example.org>`)
	})

	test('behavior: a sender with a name keeps it, and the Message-ID has its domain', async () => {
		await send(undefined, settingsOf({ from: '"Watch, the" <tracewatch@alerts.example.net>' }))
		const [mail] = server.mails
		expect(mail?.sender).toBe('tracewatch@alerts.example.net')
		expect(addressesOf(mail?.parsed.from)).toEqual(['tracewatch@alerts.example.net'])
		expect(mail?.messageId).toBe(`<${idOf(1)}@alerts.example.net>`)
	})

	test('behavior: a label with line ends and addresses adds neither a header nor a recipient to the mail', async () => {
		const label = 'x\r\nBcc: evil@example.org\u0000\u202egnp.exe, evil@example.org'
		const message = messageOf(alertData({ watch: { ...alertData().watch, label } }))
		await send(mailDeliveryOf(1, 'ops@example.org', { message }))
		const [mail] = server.mails
		expect(mail?.recipients).toEqual(['ops@example.org'])
		expect(mail?.parsed.bcc).toBeUndefined()
		expect(mail?.subject).toContain('x Bcc: evil@example.orggnp.exe, evil@example.org received')
		expect(mail?.raw.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/m)
	})

	test('behavior: the acknowledgement lost after DATA, the second attempt has the same Message-ID', async () => {
		const receiver = createEmailReceiver(settingsOf())
		const delivery = mailDeliveryOf(1, 'ops@example.org')
		server.answer = (phase) => (phase === 'data' && server.mails.length === 0 ? 'cut' : null)
		expect((await receiver.deliver(delivery, never)).result).toBe('retry')
		expect(await receiver.deliver(delivery, never)).toMatchObject({ result: 'delivered' })
		await receiver.close()
		expect(server.mails.map(({ acknowledged }) => acknowledged)).toEqual([false, true])
		expect(new Set(server.mails.map(({ messageId }) => messageId))).toEqual(new Set([`<${idOf(1)}@example.org>`]))
		expect(server.mails[0]?.parsed.date).toEqual(server.mails[1]?.parsed.date)
	})
})
