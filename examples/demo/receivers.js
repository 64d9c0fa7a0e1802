// A real mail server and a real webhook receiver on loopback. They keep what they get.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { Webhook } from 'standardwebhooks'

/** Delivery is at least once: what comes twice is kept once. `onFault` is called with what is wrong with a message. */
export async function startReceivers(secret, onFault) {
	const mails = new Map()
	const hooks = new Map()

	const smtp = new SMTPServer({
		authOptional: true,
		disabledCommands: ['STARTTLS'],
		onData: async (stream, _session, done) => {
			const mail = await simpleParser(stream)
			mails.set(mail.messageId, mail)
			done()
		},
	})
	smtp.listen(0, '127.0.0.1')
	await once(smtp.server, 'listening')

	const http = createServer(async (request, response) => {
		const body = await buffer(request)
		try {
			hooks.set(request.headers['webhook-id'], new Webhook(secret).verify(body, request.headers))
		} catch (error) {
			onFault(`a webhook is not signed as it should be: ${error.message}`)
		}
		response.writeHead(204).end()
	})
	http.listen(0, '127.0.0.1')
	await once(http, 'listening')

	return {
		smtpUrl: `smtp://127.0.0.1:${smtp.server.address().port}`,
		hookUrl: `http://127.0.0.1:${http.address().port}/alerts`,
		mails,
		hooks,
	}
}
