// An answer that goes on coming is waited for, however long it takes, where the same would only be asked for once more.
import { once } from 'node:events'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createBlockFallback } from '../../src/chain/blockFallback.js'
import { createCapabilitiesRegistry } from '../../src/chain/capabilities/registry.js'
import { createRpc } from '../../src/chain/rpc/rpc.js'
import { openSourceClients, type SourceClient } from '../../src/chain/sourceClients.js'
import type { ClientOutcome, Part } from '../../src/model/chain.js'
import { bystander, startFloodNode } from '../support/floodNode.js'
import { never } from '../support/pool.js'
import { silent } from '../support/silent.js'

const watched = new Set([bystander])
const block = { from: 10n, to: 10n }

describe('a block in doubt, where a moment of 3 s is allowed', () => {
	let client: SourceClient
	let part: Part | undefined

	beforeEach(async () => {
		const node = await startFloodNode(false)
		node.head = 20
		const rpc = createRpc({ url: node.url })
		onTestFinished(async () => {
			rpc.close()
			await node.close()
		})
		const registry = createCapabilitiesRegistry({ setting: 'trace_block', clock: () => 0, log: silent })
		const options = { rpcs: [rpc], chainId: 1, registry, source: 'trace_block', clock: () => 0 } as const
		client = openSourceClients(options)[0] as SourceClient
		for await (const one of client.chain().walk(block, watched, never)) part = one
		vi.useFakeTimers()
		onTestFinished(() => void vi.useRealTimers())
	})

	/** Asks for it while pieces of the answer come for so long; complete after 8 s. */
	async function ask(comesMs: number) {
		const whole = new AbortController()
		let [asked, sinceMs] = [0, 0]
		const coming: SourceClient = {
			...client,
			sinceProgressMs: () => sinceMs,
			chain: () => ({
				...client.chain(),
				async *walk(_span, _watched, until) {
					asked += 1
					await Promise.race([once(whole.signal, 'abort'), once(until, 'abort')])
					until.throwIfAborted()
					if (part !== undefined) yield part
				},
			}),
		}
		const doubt = { number: 10n, before: [], after: [], furtherAfter: [], wait: 'short' } as const
		const came = createBlockFallback([coming]).tryAll(doubt, watched, never)
		for (let passedMs = 0; passedMs < 8_000; passedMs += 500) {
			await vi.advanceTimersByTimeAsync(500)
			sinceMs = passedMs < comesMs ? 0 : sinceMs + 500
		}
		whole.abort()
		return { came: await came, asked }
	}

	test('behavior: a block that comes for 8 s is read', async () => {
		const { came, asked } = await ask(8_000)
		expect((came as Part).span).toEqual(block)
		expect((came as Part).transactions.map(({ frames }) => frames[0]?.valueWei)).toEqual([10n])
		expect(asked).toBe(1)
	})

	test('error: a block that stops coming is given up', async () => {
		const { came } = await ask(1_000)
		const [fared] = came as readonly ClientOutcome[]
		expect(fared).toMatchObject({ result: 'unanswered', why: expect.stringContaining('did not give block 10 within') })
	})
})
