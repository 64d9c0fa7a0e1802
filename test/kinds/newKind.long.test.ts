// A kind that is added by its record and its producer alone goes all the way: from the chain to the message, and back
// when the chain is reorganised.
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { toChecksum } from '../../src/config/address.js'
import { jsonSchema } from '../../src/config/jsonSchema.js'
import { isAbout } from '../../src/core/outbox/historyEntries.js'
import { urgencyOf } from '../../src/core/outbox/urgency.js'
import type { Address } from '../../src/model/glossary.js'
import { isAlarming, marksOf } from '../../src/notify/text/alarms.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { alertOf, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { name } from './echo.js'

vi.mock('../../src/kinds/list.js', async (original) => {
	const { records } = await original<typeof import('../../src/kinds/list.js')>()
	const { echo } = await import('./echo.js')
	return { records: { ...records, echo } }
})
vi.mock('../../src/core/events/eventsByTransaction.js', async (original) => {
	const { eventsByTransaction } = await original<typeof import('../../src/core/events/eventsByTransaction.js')>()
	const { withEchoes } = await import('./echo.js')
	return {
		*eventsByTransaction(part: Parameters<typeof eventsByTransaction>[0]) {
			for (const one of eventsByTransaction(part)) yield { ...one, events: withEchoes(one.events) }
		},
	}
})

test('default: a record and a producer are all that a kind needs', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [from, to] = (await node.accounts()) as [Address, Address]
	const bench = await openBench({ urls: [node.url], watches: [watchOf(to, { kinds: [name] })], books: false })
	onTestFinished(() => bench.close())
	await node.mine()
	await bench.settle()
	const before = await node.rpc('evm_snapshot')
	const payment = { from, to, value: '0x7', nonce: '0x0', gas: '0x5208', gasPrice: '0x77359400' }
	const txHash = await node.rpc('eth_sendTransaction', [payment])
	await node.mine()
	expect((await bench.settle()).alerts).toMatchObject({ echo: 1, transfer: 0 })

	const [sent] = await bench.posted()
	if (sent === undefined) throw new Error('an alert was expected')
	const { message } = sent
	const data = alertOf(sent)
	expect(message.type).toBe('alert.echo')
	expect(data).toMatchObject({ kind: 'echo', volume: 11, valueWei: '7', direction: 'in', txHash })

	expect(data.id).toBe(`31337:${txHash}:echo_root:echo:${to}`)

	// In words.
	const { subject, text } = composeMessage(message)
	const short = `${toChecksum(to).slice(0, 6)}…${to.slice(-4)}`
	expect(subject.toLowerCase()).toBe(`[local] echo: ${short} heard 0.000000000000000007 eth`.toLowerCase())
	expect(text).toContain('!!! Cover your ears.')
	expect(text).toMatch(/^Volume: +11$/m)
	expect([
		isAlarming(subject),
		marksOf({ type: 'alert.transfer', data: { ...data, deliveryId: sent.id } }),
		urgencyOf(message),
	]).toEqual([true, ['ECHO'], 'alarm'])

	// In the schemas, the settings and the history.
	const schema = z.fromJSONSchema(jsonSchema('alert') as z.core.JSONSchema.JSONSchema)
	expect(schema.safeParse(JSON.parse(JSON.stringify(message))).success).toBe(true)
	const wrong = { ...message, data: { ...data, volume: 'loud' } }
	expect(schema.safeParse(JSON.parse(JSON.stringify(wrong))).success).toBe(false)
	const watchlist = z.fromJSONSchema(jsonSchema('watchlist') as z.core.JSONSchema.JSONSchema)
	const named = (kind: string) => ({ network: 'local', watches: [{ address: to, kinds: [kind] }] })
	expect(watchlist.safeParse(named('echo')).success).toBe(true)
	expect(watchlist.safeParse(named('echoes')).success).toBe(false)
	expect(isAbout(message, 'hook', { kind: 'echo' })).toBe(true)
	expect(isAbout(message, 'hook', { kind: 'transfer' })).toBe(false)

	// Mined again in another block it is no news; when it is in no block, it is retracted.
	await node.rpc('evm_revert', [before])
	const again = await node.rpc('evm_snapshot')
	await node.mine()
	expect(await node.rpc('eth_sendTransaction', [payment])).toBe(txHash)
	await node.mine(2)
	await bench.settle()
	expect(await bench.posted()).toHaveLength(1)
	await node.rpc('evm_revert', [again])
	await node.mine(6)
	await bench.settle()
	const [, removed, ...more] = await bench.posted()
	if (removed === undefined) throw new Error('a retraction was expected')
	expect(more).toEqual([])
	expect([removed.message.type, alertOf(removed).id, removed.answers]).toEqual(['alert.removed', data.id, sent.id])
	expect(composeMessage(removed.message).text).toContain('The echo has faded.')
})
