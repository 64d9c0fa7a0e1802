import { mkdir, rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { NetworkSettings } from '../../../src/config/settings/settings.js'
import { createVitals } from '../../../src/daemon/health/vitals.js'
import type { ConfiguredPoller } from '../../../src/daemon/polling/networkPoller.js'
import { freshStatus, type PollerStatus } from '../../../src/daemon/polling/pollerStatus.js'
import { createTroubleBook } from '../../../src/notify/delivery/troubles.js'
import type { PollReport } from '../../../src/scan/poll.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { silent } from '../../support/silent.js'

const minute = 60_000

/** A network as the vitals see it: what its rounds report, on a clock that the test moves. */
async function watched(stallAfterMs: number | null = 10 * minute) {
	let nowMs = 1_800_000_000_000
	let failure: string | null = null
	const clock = () => nowMs
	const folder = temporaryFolder()
	const store = await openFileStore(folder, { clock })
	onTestFinished(async () => {
		await store.close()
	})
	let polled: Partial<PollerStatus> = {}
	const begun = freshStatus(nowMs)
	const status = (): PollerStatus => ({ ...begun, ...polled, failure })
	const rpc = ['https://node.example.org:8545/Canary-Key/evm', 'https://other.example.org/Canary-Key']
	const settings = { name: 'ethereum', chainId: 1, stallAfterMs, rpc: rpc as readonly string[] } as NetworkSettings
	const vitals = createVitals({
		known: (await store.summary()).networks,
		pollers: [{ name: 'ethereum', quietAfterMs: 5 * minute, network: settings, status } as ConfiguredPoller],
		receiversOf: () => ['mail', 'hook'],
		troubles: createTroubleBook({
			receivers: [
				{ name: 'mail', recipients: ['a@example.org', 'b@example.org'] },
				{ name: 'hook', recipients: null },
			],
			...{ store, clock, log: silent },
		}),
		clock,
		log: silent,
	})
	return {
		vitals,
		store,
		folder,
		pass: async (ms: number) => {
			nowMs += ms
			await vitals.check()
		},
		/** A poll ends well. */
		done() {
			polled = { ...polled, lastDoneAtMs: nowMs, wellAtMs: nowMs }
		},
		fail(words: string | null) {
			failure = words
		},
		report(checkpoint: bigint, head = checkpoint, blocks = 0n) {
			const report: PollReport = {
				head,
				target: head,
				checkpoint,
				behind: false,
				alerts: { transfer: 0, deployment: 0 },
				retracted: 0,
				unread: [],
				disagreements: 0,
				blocks,
			}
			vitals.reported('ethereum', report)
			polled = { lastReport: report, lastDoneAtMs: nowMs, wellAtMs: nowMs }
		},
		said: async () =>
			(await store.deliveries()).map(({ message, receiver, recipient }) => [message.type, recipient ?? receiver]),
	}
}

test('behavior: polls that do not end are not said to work', async () => {
	const { pass, report, done, vitals } = await watched()
	report(5n)
	await pass(9 * minute)
	done()
	await pass(2 * minute)
	expect(vitals.networks()[0]?.reason).toContain('polls work, but the head stands at block 5. To do: compare')
	await pass(9 * minute)
	expect(vitals.networks()[0]?.reason).toContain(': no poll has ended: no answer of node.example.org:8545 or other')
})

test('behavior: a stall names the endpoints that do not answer, by host, also before the first poll', async () => {
	for (const first of [true, false]) {
		const { pass, report, vitals, store } = await watched()
		if (!first) report(5n)
		await pass(11 * minute)
		const hosts = 'node.example.org:8545 or other.example.org'
		const all = `no answer of ${hosts}, or only rate limits (429). To do: see`
		expect(vitals.networks()[0]?.reason).toContain(all)
		const [told] = await store.deliveries()
		expect(told?.message.data).toMatchObject({ reason: expect.stringContaining(all) })
		expect(JSON.stringify(told)).not.toContain('Canary')
	}
})

test('behavior: scanned blocks are progress, though polls fail afterwards; scanned anew they are not', async () => {
	const { pass, said, fail, vitals } = await watched()
	fail('a block of long ago is not there any more')
	for (let block = 1n; block < 30n; block++) {
		vitals.scanned('ethereum', block, 99n)
		await pass(minute)
	}
	expect(await said()).toEqual([])
	for (let round = 0n; round < 11n; round++) {
		vitals.scanned('ethereum', 20n + (round % 10n), 99n)
		await pass(minute)
	}
	expect((await said()).map(([type]) => type)).toContain('system.stalled')
})

test('behavior: a poll that still runs ends a stall: its own head is named', async () => {
	const { pass, report, store, vitals } = await watched()
	report(5n)
	await pass(11 * minute)
	vitals.scanned('ethereum', 7n, 9n)
	await pass(0)
	const ends = (await store.deliveries()).filter(({ message }) => message.type === 'system.recovered')
	expect(ends).toHaveLength(3)
	for (const { message } of ends) expect(message.data).toMatchObject({ checkpoint: 7, head: 9 })
})

test('a network that moves says nothing', async () => {
	const { pass, report, said, vitals } = await watched()
	for (let block = 1n; block < 30n; block++) {
		report(block)
		await pass(minute)
	}
	expect(await said()).toEqual([])
	expect(vitals.networks()).toMatchObject([{ ok: true }])
})

test('behavior: a stall is reported once, to every receiver and recipient, and so is its end', async () => {
	const { pass, report, said, store, vitals } = await watched()
	report(5n)
	await pass(10 * minute)
	expect(await said()).toEqual([])
	await pass(1)
	await pass(minute)
	const stalled = ['system.stalled', 'system.stalled', 'system.stalled']
	expect((await said()).map(([type]) => type)).toEqual(stalled)
	expect((await said()).map(([, to]) => to)).toEqual(['a@example.org', 'b@example.org', 'hook'])
	expect(vitals.networks()[0]).toMatchObject({ ok: false, checkpoint: 5 })

	report(6n)
	await pass(1)
	await pass(minute)
	expect((await said()).map(([type]) => type)).toEqual([...stalled, ...stalled.map(() => 'system.recovered')])
	const ids = (await store.deliveries()).map(({ id }) => id)
	expect(new Set(ids).size).toBe(6)
	for (const id of ids) expect(id).not.toContain('.')
})

test('behavior: a network that continues is well at once, and not only when its end was reported', async () => {
	const { pass, report, vitals } = await watched()
	report(5n)
	await pass(11 * minute)
	expect(vitals.networks()[0]).toMatchObject({ ok: false })
	report(6n)
	expect(vitals.networks()[0]).toMatchObject({ ok: true, reason: null })
	await pass(11 * minute)
	expect(vitals.networks()[0]).toMatchObject({ ok: false })
})

test('behavior: while the state cannot be written the stall shows, and is reported as soon as it can be', async () => {
	const { pass, report, said, folder, vitals } = await watched()
	report(5n)
	await rm(folder, { recursive: true })
	await pass(11 * minute)
	await pass(minute)
	expect(vitals.networks()[0]).toMatchObject({ ok: false })
	expect(await said()).toEqual([])
	await mkdir(folder)
	await pass(minute)
	await pass(minute)
	expect((await said()).map(([type]) => type)).toEqual(['system.stalled', 'system.stalled', 'system.stalled'])
})

test('behavior: a stall that begins and ends while nothing can be written is reported, and so is its end', async () => {
	const { pass, report, said, store, folder } = await watched()
	report(5n)
	await rm(folder, { recursive: true })
	await pass(11 * minute)
	report(6n)
	await pass(minute)
	expect(await said()).toEqual([])
	await mkdir(folder)
	await pass(minute)
	const types = (await said()).map(([type]) => type)
	expect(types).toEqual([...Array(3).fill('system.stalled'), ...Array(3).fill('system.recovered')])
	const ids = (await store.deliveries()).map(({ message: { data } }) => data.id.replace(/system_\w+/, ''))
	expect(new Set(ids).size).toBe(1)
})

test('behavior: the reason says whether the endpoints fail or the head stands still', async () => {
	const { pass, report, done, fail, store } = await watched()
	report(5n, 9n)
	await pass(9 * minute)
	done()
	await pass(2 * minute)
	fail('node.example.org answers 502')
	const [first] = await store.deliveries()
	expect(first?.message.data).toMatchObject({ reason: expect.stringContaining('the head stands at block 9') })
	report(6n)
	await pass(1)
	await pass(11 * minute)
	const last = (await store.deliveries()).at(-1)
	expect(last?.message.data).toMatchObject({ reason: expect.stringContaining('node.example.org answers 502') })
})

test('behavior: a head before the checkpoint is another matter than one that stands still', async () => {
	const { pass, report, done, store } = await watched()
	report(500n, 3n)
	await pass(9 * minute)
	done()
	await pass(2 * minute)
	const [first] = await store.deliveries()
	expect(first?.message.data).toMatchObject({
		reason: expect.stringMatching(
			/the head is behind the checkpoint: .*its head is block 3, and block 500 was scanned/,
		),
	})
})

test('behavior: blocks of a second look or a backfill are progress, though the checkpoint stands', async () => {
	const { pass, report, said } = await watched()
	for (let n = 0; n < 20; n++) {
		report(5n, 5n, 3n)
		await pass(minute)
	}
	expect(await said()).toEqual([])
})

test('args: with stall_after never nothing is sent', async () => {
	const { pass, said } = await watched(null)
	await pass(10_000 * minute)
	expect(await said()).toEqual([])
})
