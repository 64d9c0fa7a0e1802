/**
 * The receivers of the demo: a real mail server and a real webhook receiver on loopback, which record what they get.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PlainError } from '../errors.js'
import type { Message } from '../model/alert.js'

export interface ReceivedMail {
	readonly subject: string
	readonly text: string
	readonly messageId: string
	/** From the header X-Tracewatch-Alert. */
	readonly alertId: string
}

export interface ReceivedHook {
	readonly id: string
	readonly timestamp: string
	readonly signature: string
	/** The raw bytes of the request. */
	readonly body: Buffer
	readonly message: Message
}

export interface DemoReceivers {
	readonly smtpUrl: string
	readonly hookUrl: string
	readonly mails: readonly ReceivedMail[]
	readonly hooks: readonly ReceivedHook[]
	close(): Promise<void>
}

/** @throws PlainError when the mail server's packages are not installed. */
export async function startReceivers(onReceived: () => void): Promise<DemoReceivers> {
	const { SMTPServer, simpleParser } = await loadMailPackages()
	const mails: ReceivedMail[] = []
	const hooks: ReceivedHook[] = []

	const smtp = new SMTPServer({
		authOptional: true,
		disabledCommands: ['STARTTLS'],
		async onData(stream, _session, callback) {
			try {
				const mail = await simpleParser(stream)
				const alertId = mail.headers.get('x-tracewatch-alert')
				mails.push({
					subject: mail.subject ?? '',
					text: mail.text ?? '',
					messageId: mail.messageId ?? '',
					alertId: typeof alertId === 'string' ? alertId : '',
				})
				callback()
				onReceived()
			} catch (error) {
				callback(error instanceof Error ? error : new Error(String(error)))
			}
		},
	})
	smtp.listen(0, '127.0.0.1')
	await once(smtp.server, 'listening')

	const http = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		request.on('end', () => {
			const body = Buffer.concat(chunks)
			const header = (name: string) => String(request.headers[name] ?? '')
			const [id, timestamp, signature] = [
				header('webhook-id'),
				header('webhook-timestamp'),
				header('webhook-signature'),
			]
			hooks.push({ id, timestamp, signature, body, message: JSON.parse(body.toString('utf8')) })
			response.writeHead(204).end()
			onReceived()
		})
	})
	http.listen(0, '127.0.0.1')
	await once(http, 'listening')

	return {
		smtpUrl: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
		hookUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/alerts`,
		mails,
		hooks,
		async close() {
			http.closeAllConnections()
			await Promise.all([
				new Promise<void>((resolve) => smtp.close(() => resolve())),
				new Promise<void>((resolve) => http.close(() => resolve())),
			])
		},
	}
}

async function loadMailPackages() {
	try {
		const [{ SMTPServer }, { simpleParser }] = await Promise.all([import('smtp-server'), import('mailparser')])
		return { SMTPServer, simpleParser }
	} catch (cause) {
		throw new PlainError(
			'the demo brings a mail server of its own, which is not installed: npm install --save-dev smtp-server mailparser',
			{ cause },
		)
	}
}
