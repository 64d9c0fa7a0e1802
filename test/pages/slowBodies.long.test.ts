import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { serve } from './hostile.js'

test('behavior: bodies that trickle on 200 connections keep no one out, and end', async () => {
	const { port, url } = await serve()
	const head = 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000000\r\n\r\n'
	const slow = Array.from({ length: 200 }, () => {
		const socket = connect(port, '127.0.0.1', () => socket.write(head))
		return socket.on('error', () => undefined).resume()
	})
	const drip = setInterval(() => {
		for (const socket of slow) if (socket.writable) socket.write('x')
	}, 50)
	try {
		for (let times = 0; times < 3; times++) {
			const answer = await fetch(`${url}/healthz`, { headers: { connection: 'close' } })
			expect(answer.status).toBe(503)
		}
		await expect.poll(() => slow.filter(({ closed }) => !closed).length, { timeout: 60_000 }).toBe(0)
	} finally {
		clearInterval(drip)
		for (const socket of slow) socket.destroy()
	}
})
