// What nobody can be faster than: the same requests sent by bare undici, their answers parsed, nothing else.
import { Pool } from 'undici'
import type { Exchange } from './proxy.js'

/** Sends recorded requests again, so many at a time, and parses every answer. */
export async function replay(url: string, exchanges: readonly Exchange[], lanes: number): Promise<void> {
	const pool = new Pool(url, { connections: lanes, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
	const queue = exchanges.values()
	const headers = { 'content-type': 'application/json' }
	const lane = async () => {
		for (const { request } of queue) {
			const { body } = await pool.request({ method: 'POST', path: '/', headers, body: request })
			const text = await body.text()
			// A failing endpoint's error is no answer.
			if (text !== '') JSON.parse(text)
		}
	}
	await Promise.all(Array.from({ length: lanes }, lane))
	await pool.destroy()
}
