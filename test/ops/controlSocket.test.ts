import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PlainError } from '../../src/errors.js'
import {
	askControl,
	askHealth,
	type ControlReply,
	type ControlRequest,
	controlPath,
	serveControl,
} from '../../src/ops/controlSocket.js'
import { temporaryFolder } from '../support/folder.js'

const retry = { act: 'retry' as const, ids: ['a', 'b'] }

const countOf = (request: ControlRequest): ControlReply => ({ count: 'ids' in request ? request.ids.length : -1 })

test('default: a request is carried out, and answered with what it found', async () => {
	const folder = temporaryFolder()
	const seen: ControlRequest[] = []
	const close = await serveControl(folder, async (request) => {
		seen.push(request)
		return countOf(request)
	})
	onTestFinished(close)
	expect(await askControl(folder, retry)).toBe(2)
	expect(await askControl(folder, { act: 'drop', ids: ['c'] })).toBe(1)
	expect(seen).toEqual([retry, { act: 'drop', ids: ['c'] }])
})

test('behavior: a folder with a long path has a socket of its own, and a leftover one is replaced', async () => {
	const parent = join(temporaryFolder(), 'long'.repeat(40))
	const [one, two] = [join(parent, 'one'), join(parent, 'two')]
	for (const folder of [one, two]) await mkdir(folder, { recursive: true })
	onTestFinished(await serveControl(one, async () => ({ count: 1 })))
	expect([await askControl(one, retry), await askControl(two, retry)]).toEqual([1, null])
	onTestFinished(await serveControl(one, async () => ({ count: 2 })))
	onTestFinished(await serveControl(two, async () => ({ count: 3 })))
	expect([await askControl(one, retry), await askControl(two, retry)]).toEqual([2, 3])
})

test('default: null where no one listens, also beside a socket that is left over', async () => {
	const folder = temporaryFolder()
	expect(await askControl(folder, retry)).toBeNull()
	const close = await serveControl(folder, async () => ({ count: 0 }))
	await close()
	expect(await askControl(folder, retry)).toBeNull()
})

test('behavior: a client that goes away before its answer disturbs nothing', async () => {
	const folder = temporaryFolder()
	const close = await serveControl(folder, async (request) => countOf(request))
	onTestFinished(close)
	for (let turn = 0; turn < 200; turn++) {
		const socket = createConnection(controlPath(folder))
		await once(socket, 'connect')
		const body = JSON.stringify(retry)
		socket.write(`POST / HTTP/1.1\r\nhost: tracewatch\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
		// Gone at once, or in the midst of it.
		for (let wait = turn % 4; wait > 0; wait--) await new Promise((resolve) => setImmediate(resolve))
		socket.destroy()
	}
	expect(await askControl(folder, retry)).toBe(2)
})

test('error: a request that the daemon cannot serve is answered with the reason', async () => {
	const folder = temporaryFolder()
	const close = await serveControl(folder, async () => {
		throw new Error('the disk is full')
	})
	onTestFinished(close)
	await expect(askControl(folder, retry)).rejects.toThrow('the running daemon could not do it: the disk is full')
	await expect(askControl(folder, { act: 'forget', ids: [] } as never)).rejects.toThrow('could not do it')
})

test('error: a daemon that dies before it answers', async () => {
	const folder = temporaryFolder()
	const server = createServer((socket) => {
		socket.once('data', () => socket.destroy())
	})
	server.listen(controlPath(folder))
	await once(server, 'listening')
	onTestFinished(() => void server.close())
	const failing = askControl(folder, retry)
	await expect(failing).rejects.toBeInstanceOf(PlainError)
	await expect(failing).rejects.toThrow(
		/^the running daemon did not answer; try again .*, and may still carry this out$/,
	)
})

test('default: how the daemon is; null where none runs', async () => {
	const folder = temporaryFolder()
	expect(await askHealth(folder)).toBeNull()
	const health = { ok: false, reason: 'local is not scanned:\u2028the disk\u2029 is full' }
	onTestFinished(await serveControl(folder, async () => ({ health })))
	expect(await askHealth(folder)).toEqual(health)
})
