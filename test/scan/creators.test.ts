import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { orCut } from '../support/orCut.js'
import { START_MS } from '../support/standingClock.js'
import { alertOf, openBench, watchOf } from './bench.js'

interface Call {
	readonly id: number
	readonly method: string
	readonly params: readonly unknown[]
}

/** A node of which each question for a creator is kept, and, if so wanted, never answered. */
async function startNode(hangs: boolean) {
	const node = await startTestAnvil()
	const asked: string[] = []
	const server = createServer((request, response) => {
		const chunks: Buffer[] = []
		request.on('data', (chunk: Buffer) => chunks.push(chunk))
		const answer = async () => {
			const body = Buffer.concat(chunks).toString('utf8')
			const parsed = JSON.parse(body) as Call | readonly Call[]
			const creators = [parsed].flat().filter(({ method }) => method === 'ots_getContractCreator')
			asked.push(...creators.map(({ params }) => String(params[0])))
			if (hangs && creators.length > 0) return
			const given = await fetch(node.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
			response.setHeader('content-type', 'application/json').end(await given.text())
		}
		request.on('end', () => orCut(response, answer()))
	})
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
	onTestFinished(async () => {
		server.closeAllConnections()
		server.close()
		await node.stop()
	})
	return { node, asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Init code of a contract of one byte. */
const data = '0x60016000f3'

test('default: a creation is asked for once, however many are alerted; confirmed if answered in time', async () => {
	const { node, asked, url } = await startNode(false)
	const [from] = (await node.accounts()) as [Address]
	let nowMs = START_MS
	const watches = [watchOf(from), { ...watchOf(from), watchlist: 'another.yaml', receivers: ['mail'] }]
	const bench = await openBench({ urls: [url], watches, clock: () => nowMs })
	onTestFinished(() => bench.close())
	await bench.settle()
	// An answer may come too late on a busy machine; then nothing is asked for ten minutes.
	for (let tries = 1; tries <= 10; tries++) {
		await node.send({ from, data })
		await node.mine(1)
		await bench.settle()
		const told = (await bench.posted()).map(alertOf)
		expect(told).toHaveLength(tries)
		expect(asked).toHaveLength(tries)
		expect(new Set(asked).size).toBe(tries)
		if (told.at(-1)?.creatorConfirmed === true) return
		expect(told.at(-1)).not.toHaveProperty('creatorConfirmed')
		nowMs += 601_000
	}
	throw new Error('no answer came in time')
})

test('behavior: a node that does not answer holds up no alert, and is asked once in ten minutes', async () => {
	const { node, asked, url } = await startNode(true)
	const [from] = (await node.accounts()) as [Address]
	const bench = await openBench({ urls: [url], watches: [watchOf(from)] })
	onTestFinished(() => bench.close())
	await bench.settle()
	for (let n = 0; n < 8; n++) await node.send({ from, data })
	await node.mine(1)
	await bench.settle()
	const told = (await bench.posted()).map(alertOf)
	expect(told.map(({ kind }) => kind)).toEqual(Array.from({ length: 8 }, () => 'deployment'))
	for (const one of told) expect(one).not.toHaveProperty('creatorConfirmed')
	const first = asked.length
	expect(first).toBeGreaterThan(0)
	await node.send({ from, data })
	await node.mine(1)
	await bench.settle()
	expect(await bench.posted()).toHaveLength(9)
	expect(asked).toHaveLength(first)
})
