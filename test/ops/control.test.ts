import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PlainError } from '../../src/errors.js'
import { askControl, type ControlRequest, controlPath, serveControl } from '../../src/ops/control.js'

function makeFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), 'tracewatch-control-'))
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
	return folder
}

const retry: ControlRequest = { act: 'retry', ids: ['a', 'b'] }

test('default: a request is carried out, and answered with what it found', async () => {
	const folder = makeFolder()
	const seen: ControlRequest[] = []
	const close = await serveControl(folder, async (request) => {
		seen.push(request)
		return request.ids.length
	})
	onTestFinished(close)
	expect(await askControl(folder, retry)).toBe(2)
	expect(await askControl(folder, { act: 'drop', ids: ['c'] })).toBe(1)
	expect(seen).toEqual([retry, { act: 'drop', ids: ['c'] }])
})

test('default: null where nobody listens, also beside a socket that is left over', async () => {
	const folder = makeFolder()
	expect(await askControl(folder, retry)).toBeNull()
	const close = await serveControl(folder, async () => 0)
	await close()
	expect(await askControl(folder, retry)).toBeNull()
})

test('behavior: who asks and goes away before the answer disturbs nothing', async () => {
	const folder = makeFolder()
	const close = await serveControl(folder, async ({ ids }) => ids.length)
	onTestFinished(close)
	for (let turn = 0; turn < 200; turn++) {
		const socket = createConnection(controlPath(folder))
		await once(socket, 'connect')
		socket.write(`${JSON.stringify(retry)}\n`)
		// Gone at once, or in the midst of it.
		for (let wait = turn % 4; wait > 0; wait--) await new Promise((resolve) => setImmediate(resolve))
		socket.destroy()
	}
	expect(await askControl(folder, retry)).toBe(2)
})

test('error: what the daemon cannot do is told in its words', async () => {
	const folder = makeFolder()
	const close = await serveControl(folder, async () => {
		throw new Error('the disk is full')
	})
	onTestFinished(close)
	await expect(askControl(folder, retry)).rejects.toThrow('the running daemon could not do it: the disk is full')
	await expect(askControl(folder, { act: 'forget', ids: [] } as never)).rejects.toThrow('cannot do `forget`')
})

test('error: a daemon that dies before it answers', async () => {
	const folder = makeFolder()
	const server = createServer((socket) => {
		socket.once('data', () => socket.destroy())
	})
	server.listen(controlPath(folder))
	await once(server, 'listening')
	onTestFinished(() => void server.close())
	const failing = askControl(folder, retry)
	await expect(failing).rejects.toBeInstanceOf(PlainError)
	await expect(failing).rejects.toThrow(/^the running daemon did not answer; try again/)
})
