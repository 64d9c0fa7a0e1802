// An answer that goes on coming is waited for, however long it takes, where the same would only be asked for once more.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as later } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createBlockFallback } from '../../src/chain/blockFallback.js'
import { createCapabilitiesRegistry } from '../../src/chain/capabilities/registry.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import { openSourceClients } from '../../src/chain/sourceClients.js'
import type { ClientOutcome, Part } from '../../src/model/chain.js'
import { postJson } from '../support/askNode.js'
import { bystander, startFloodNode } from '../support/floodNode.js'
import { orCut } from '../support/orCut.js'
import { never } from '../support/pool.js'
import { silent } from '../support/silent.js'

const space = ' '.repeat(5 * 1024 * 1024)

const inDoubt = '"method":"trace_block","params":["0xa"]'

/** A node whose answers about block 10 come in so many pieces, one each `everyMs`: spaces, which JSON allows. */
async function startSlowNode(pieces: number, everyMs: number) {
	const node = await startFloodNode(false)
	let asked = 0
	const server = createServer((request, response) => {
		const answerAll = async () => {
			const chunks: Buffer[] = []
			for await (const chunk of request) chunks.push(chunk as Buffer)
			const body = Buffer.concat(chunks).toString()
			const { text } = await postJson(node.url, body)
			if (body.includes(inDoubt)) {
				asked += 1
				for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
					response.write(space)
					await later(everyMs)
				}
			}
			response.end(text)
		}
		orCut(response, answerAll())
	})
	server.listen(0, '127.0.0.1')
	await once(server, 'listening')
	node.head = 20
	onTestFinished(async () => {
		server.closeAllConnections()
		server.close()
		await node.close()
	})
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}

async function tryAt(url: string): Promise<Part | readonly ClientOutcome[]> {
	const rpc = createRpc({ url })
	onTestFinished(() => rpc.close())
	const registry = createCapabilitiesRegistry({ setting: 'trace_block', clock: Date.now, log: silent })
	const clients = openSourceClients({ rpcs: [rpc], chainId: 1, registry, source: 'trace_block', clock: Date.now })
	const doubt = { number: 10n, before: [], after: [], furtherAfter: [], wait: 'short' } as const
	return createBlockFallback(clients).tryAll(doubt, new Set([bystander]), never)
}

test('behavior: a block in doubt that comes for 8 s is read, where a moment of 3 s is allowed', async () => {
	const { url, asked } = await startSlowNode(16, 500)
	const came = (await tryAt(url)) as Part
	expect(came.span).toEqual({ from: 10n, to: 10n })
	expect(came.transactions.map(({ frames }) => frames[0]?.valueWei)).toEqual([10n])
	expect(asked()).toBe(1)
})

test('error: a block whose answer stops coming is given up', async () => {
	const { url } = await startSlowNode(2, 60_000)
	const [fared] = (await tryAt(url)) as readonly ClientOutcome[]
	expect(fared).toMatchObject({ result: 'unanswered', why: expect.stringContaining('did not give block 10 within') })
})
