// A node that closes the connection after each answer, as one behind an old proxy does.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { randomOf } from '../../support/random.js'

const rounds = 10

let server: Server
let url: string
/** What it answers. */
let rows: readonly string[]
beforeAll(async () => {
	server = createServer((socket) => {
		socket.on('error', () => {})
		socket.once('data', (asked) => {
			const id = Number(/"id":(\d+)/.exec(String(asked))?.[1])
			const body = gzipSync(JSON.stringify({ jsonrpc: '2.0', id, result: rows }))
			const head = `Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\nConnection: close`
			socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${head}\r\n\r\n`)
			socket.end(body)
		})
	})
	await once(server.listen(0, '127.0.0.1'), 'listening')
	url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

test('behavior: a node that closes while its answer is read slowly causes no uncaught exception', async () => {
	const uncaught: unknown[] = []
	const keep = (error: unknown) => uncaught.push(error)
	process.on('uncaughtException', keep)
	const random = randomOf(7)
	const rpc = createRpc({ url })
	try {
		for (let round = 0; round < rounds; round++) {
			// Digits at random: little of them can be packed, so that much stays on the wire.
			rows = Array.from({ length: 130 + Math.floor(random() * 4_000) }, () => randomBytes(32).toString('hex'))
			expect(await rpc.call('test_list', [], AbortSignal.timeout(60_000))).toEqual(rows)
		}
	} finally {
		process.off('uncaughtException', keep)
		await rpc.close()
	}
	expect(uncaught).toEqual([])
})
