// An answer whose head breaks the rules of HTTP is an answer, as long as its status line can be read.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Outcome } from '../../../src/model/delivery.js'
import { createWebhookReceiver } from '../../../src/notify/webhook/webhook.js'
import { standingClock } from '../../support/standingClock.js'
import { deliveryOf, never } from '../samples.js'

/** What comes in one piece; the connection ends after the last. */
type Pieces = readonly string[]

test.each<[string, Pieces, Outcome['result'], string]>([
	['bare line feeds', ['HTTP/1.1 200 OK\ncontent-length: 2\n\nok'], 'delivered', '200'],
	['bare line feeds, piece by piece', ['HTTP/1.1 2', '00 OK\ncontent-', 'length: 2\n\nok'], 'delivered', '200'],
	['one bare line feed among others', ['HTTP/1.1 204 None\r\nx: y\n\r\n'], 'delivered', '204'],
	['bare line feeds and a refusal', ['HTTP/1.1 403 No\ncontent-length: 10\n\nquota full'], 'parked', 'quota full'],
	['bare line feeds and a failure', ['HTTP/1.1 503 Busy\n\n'], 'retry', '503'],
	['no reason', ['HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n'], 'delivered', '200'],
	['HTTP/1.0 and no length', ['HTTP/1.0 200 OK\r\n\r\nok'], 'delivered', '200'],
	['junk among the headers', ['HTTP/1.1 404 No\r\nthis is junk\r\n\r\nno_service'], 'parked', 'no_service'],
	[
		'a control character in a header',
		['HTTP/1.1 200 OK\r\nx: \u0001\r\ncontent-length: 0\r\n\r\n'],
		'delivered',
		'200',
	],
	['two lengths', ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok'], 'delivered', '200'],
	['headers without an end', [`HTTP/1.1 410 Gone\r\nx: ${'y'.repeat(40_000)}`], 'parked', '410'],
	['an end after the status line', ['HTTP/1.1 200 OK\r\n'], 'delivered', '200'],
	['an end within the headers', ['HTTP/1.1 400 No\r\ncontent-'], 'parked', '400'],
	['an interim answer before it', ['HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\njunk\n\n'], 'delivered', '200'],
	['only an interim answer', ['HTTP/1.1 100 Continue\r\n\r\n'], 'retry', 'connection'],
	['too many interim answers', ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(22)], 'retry', 'HPE_INTERIM'],
	['half a status', ['HTTP/1.1 20'], 'retry', 'connection'],
	['no status line', ['hello there\r\n\r\n'], 'retry', 'does not speak HTTP'],
	['nothing', [], 'retry', 'connection'],
])('behavior: an answer with %s', async (_, pieces, result, says) => {
	const server = createServer((socket) => {
		socket.on('error', () => undefined).setNoDelay(true)
		socket.once('data', async () => {
			for (const piece of pieces) {
				socket.write(piece)
				await new Promise((resolve) => setTimeout(resolve, 10))
			}
			socket.end()
		})
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
	const receiver = createWebhookReceiver(
		{ type: 'webhook', name: 'hook', url, secret: null },
		{ version: '1', clock: standingClock },
	)
	onTestFinished(async () => {
		await receiver.close()
		server.close()
	})
	const outcome = await receiver.deliver(deliveryOf(1), never)
	expect(outcome.result).toBe(result)
	expect(JSON.stringify(outcome)).toContain(says)
})
