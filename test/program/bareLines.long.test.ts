// A receiver whose answers end their lines with a line feed only: its 200 counts, at the first attempt.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { createArrivals } from '../support/arrivals.js'
import { typed } from '../support/commandLine.js'
import { other, polled, settings, siteOf, treasury, watchlist } from './site.js'

/** Answers each whole request by a 200; keeps what was posted. */
async function startBareReceiver() {
	const posted: { readonly data: { readonly valueWei?: string } }[] = []
	const arrivals = createArrivals(() => JSON.stringify(posted))
	const server = createServer((socket) => {
		let request = ''
		socket.on('error', () => undefined)
		socket.on('data', (chunk) => {
			request += chunk.toString('utf8')
			const [head = '', body = ''] = request.split('\r\n\r\n')
			const [, length] = /content-length: (\d+)/i.exec(head) ?? []
			if (length === undefined || Buffer.byteLength(body) < Number(length)) return
			posted.push(JSON.parse(body))
			request = ''
			arrivals.changed()
			socket.end('HTTP/1.1 200 OK\ncontent-type: text/plain\ncontent-length: 2\n\nok')
		})
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	onTestFinished(() => void server.close())
	const until = (isDone: () => boolean) => arrivals.wait(() => isDone() || undefined, isDone)
	return { posted, until, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('behavior: a receiver answers 200 with bare line feeds: each alert is posted once, and none is late', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const receiver = await startBareReceiver()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: receiver.url }),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, kinds: [transfer]}`]),
	})
	const running = here.start(['run'])
	await polled(running)
	const values = () => receiver.posted.map(({ data }) => data.valueWei)
	// One after the other: a receiver that counts as failing gets no next one before its pause.
	for (const wei of ['1', '2', '3']) {
		await node.send({ from: other, to: treasury, valueWei: BigInt(wei) })
		await receiver.until(() => values().includes(wei))
	}
	expect((await running.stop()).code).toBe(0)
	const { stdout } = await typed(['deliveries', '--sent', '--json'], { cwd: here.folder })
	const rows = stdout
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line))
	expect(rows.map(({ message, result, attempts }) => [message.data.valueWei, result, attempts])).toEqual(
		['3', '2', '1'].map((wei) => [wei, 'delivered', 1]),
	)
	expect((await typed(['deliveries'], { cwd: here.folder })).stdout).toBe('nothing is pending, held, parked or dead')
	expect((await typed(['status'], { cwd: here.folder })).code).toBe(0)
	expect(values()).toEqual(['1', '2', '3'])
	expect(running.output()).not.toContain('could not be reached')
})
