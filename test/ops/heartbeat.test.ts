// What a dead man's switch hears, and what the log says when it hears nothing.
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Log } from '../../src/model/ports.js'
import { createHeartbeat, type Heartbeat } from '../../src/ops/heartbeat.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import { silent } from '../support/silent.js'

let hook: HookServer
let heartbeat: Heartbeat
let said: string[]
beforeEach(async () => {
	hook = await startHookServer()
	said = []
	const note = (level: string) => (_facts: object, words: string) => void said.push(`${level}: ${words}`)
	const log: Log = { debug() {}, info: note('info'), warn: note('warn'), error: note('error'), child: () => log }
	heartbeat = createHeartbeat(`${hook.origin}/ping/KEY?source=tracewatch`, log)
})
afterEach(async () => {
	await heartbeat.close()
	await hook.close()
})

test('default: a GET of path and query, and nothing is said', async () => {
	await heartbeat.beat()
	await heartbeat.beat()
	expect(hook.hits.map(({ method, url }) => `${method} ${url}`)).toEqual([
		'GET /ping/KEY?source=tracewatch',
		'GET /ping/KEY?source=tracewatch',
	])
	expect(said).toEqual([])
})

test('behavior: user and password of the URL are sent as a login, and are not in the path', async () => {
	const own = createHeartbeat(`${hook.origin.replace('//', '//me:p%40ss@')}/ping`, silent)
	onTestFinished(() => own.close())
	await own.beat()
	expect(hook.hits.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/ping', 'Basic bWU6cEBzcw==']])
})

test('behavior: a heartbeat that fails, and one that succeeds again, are logged once, without the key', async () => {
	hook.answer = () => 503
	await heartbeat.beat()
	await heartbeat.beat()
	hook.answer = () => 200
	await heartbeat.beat()
	await hook.close()
	await heartbeat.beat()
	expect(said).toEqual([
		expect.stringMatching(/^warn: the heartbeat URL does not answer: 127\.0\.0\.1:\d+ answers 503;/),
		'info: the heartbeat URL answers again',
		expect.stringMatching(/^warn: the heartbeat URL does not answer: 127\.0\.0\.1:\d+: ECONN/),
	])
	expect(said.join()).not.toContain('KEY')
})

test('behavior: an answer without end is heard, and cut off', async () => {
	let written = 0
	const piece = Buffer.alloc(65_536)
	hook.answer = () => (response) => {
		response.writeHead(200)
		const more = (): void => {
			if (response.destroyed) return
			written += piece.length
			response.write(piece, more)
		}
		more()
	}
	await heartbeat.beat()
	expect(said).toEqual([])
	expect(written).toBeLessThan(8 * 1024 * 1024)
})

test('behavior: a close ends a beat under way, without a word', async () => {
	hook.answer = () => () => undefined
	const beating = heartbeat.beat()
	await hook.until(1)
	await heartbeat.close()
	await beating
	expect(said).toEqual([])
})
