// What receivers were sent is wrong is ended, whoever runs by then: over restarts, and kills between any two writes.
import { expect, test } from 'vitest'
import type { Config } from '../../src/config/load.js'
import type { NetworkSettings } from '../../src/config/settings/settings.js'
import { createVitals } from '../../src/daemon/health/vitals.js'
import type { ConfiguredPoller } from '../../src/daemon/polling/networkPoller.js'
import { freshStatus, type PollerStatus } from '../../src/daemon/polling/pollerStatus.js'
import { createRefusals } from '../../src/daemon/refused.js'
import { StateError } from '../../src/errors.js'
import type { BlockRef } from '../../src/model/chain.js'
import type { Delivery } from '../../src/model/delivery.js'
import type { Store } from '../../src/model/ports.js'
import { createTroubleBook } from '../../src/notify/delivery/troubles.js'
import { createMetrics } from '../../src/ops/metrics.js'
import type { PollReport } from '../../src/scan/poll.js'
import { manyWatches } from '../pages/facts.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder } from '../support/folder.js'
import { silent } from '../support/silent.js'

const minute = 60_000
const stalling = { chainId: 1, stallAfterMs: 10 * minute, rpc: ['https://node.example.org/'] as readonly string[] }

/** A state folder and what was posted to it, for one run after the other; each write may be the last of its run. */
function place() {
	const dir = temporaryFolder()
	const posted: Delivery[] = []
	let nowMs = 1_800_000_000_000
	let left = Number.POSITIVE_INFINITY
	/** What the state holds of each network. */
	const known = new Map<string, { readonly checkpoint: BlockRef }>()
	const write = async <T>(act: () => Promise<T> | T): Promise<T> => {
		if (left <= 0) throw new StateError('disk', 'killed')
		left -= 1
		return await act()
	}
	const summary = async () => ({
		networks: new Map([['ethereum', { checkpoint: { number: 137n }, seen: { head: 138 } }]]),
		receivers: new Map(),
	})
	const store = { summary } as unknown as Store
	return {
		posted,
		said: () => posted.map(({ message }) => message.type),
		pass: (ms: number) => {
			nowMs += ms
		},
		async start(networks = ['ethereum'], writes = Number.POSITIVE_INFINITY, configured = ['hook']) {
			left = writes
			const kept = await openFileStore(dir, { clock: () => nowMs })
			const changeTroubles: Store['changeTroubles'] = (next, all = []) =>
				write(async () => {
					await kept.changeTroubles(next, all)
					posted.push(...all)
				})
			const clock = () => nowMs
			const status = (): PollerStatus => ({ ...freshStatus(nowMs), failure: 'no endpoint answers' })
			const all = networks.map((name) => ({ ...stalling, name }) as NetworkSettings)
			const receivers = configured.map((name) => ({ name, recipients: null }))
			const troubles = createTroubleBook({ store: { ...kept, changeTroubles }, receivers, clock, log: silent })
			const shared = { receiversOf: () => ['hook'], troubles, log: silent }
			const vitals = createVitals({
				known,
				...{ ...shared, clock },
				pollers: all.map((network) => ({ name: network.name, network, status }) as ConfiguredPoller),
			})
			const metrics = createMetrics({ version: '1.2.3', summary: store.summary, process: false })
			const inEffect = { watches: manyWatches(3), isRefused: false }
			const config = { networks: all } as unknown as Config
			const refusals = createRefusals({ config, store, metrics, troubles, inEffect })
			const report = (number: bigint) => {
				known.set('ethereum', { checkpoint: { number, hash: '0x' } })
				vitals.reported('ethereum', { head: number, target: number, checkpoint: number, blocks: 0n } as PollReport)
			}
			return { vitals, refusals, report }
		},
	}
}

test('default: a stall that ends while no daemon runs is ended by the next, once it has scanned a block', async () => {
	const { start, said, posted, pass } = place()
	const first = await start()
	first.report(5n)
	pass(11 * minute)
	await first.vitals.check()
	expect(said()).toEqual(['system.stalled'])

	const second = await start()
	await second.vitals.check()
	expect(second.vitals.networks()[0]).toMatchObject({ ok: false, checkpoint: 5 })
	// Polls work again, but the head stands where it stood.
	second.report(5n)
	pass(20 * minute)
	await second.vitals.check()
	expect(said()).toEqual(['system.stalled'])
	second.report(6n)
	await second.vitals.check()
	await second.vitals.check()
	expect(said()).toEqual(['system.stalled', 'system.recovered'])
	const [stalled, recovered] = posted.map(({ message }) => message.data.id)
	expect(recovered).toBe(stalled?.replace('system_stalled', 'system_recovered'))

	const third = await start()
	third.report(7n)
	await third.vitals.check()
	expect(said()).toHaveLength(2)
})

test('behavior: a stall of a network that is gone is ended, and receivers that are gone get nothing', async () => {
	const { start, said, pass } = place()
	const first = await start()
	first.report(5n)
	pass(11 * minute)
	await first.vitals.check()
	const second = await start(['base'])
	await second.vitals.check()
	expect(said()).toEqual(['system.stalled', 'system.recovered'])

	const other = place()
	const run = await other.start()
	run.report(5n)
	other.pass(11 * minute)
	await run.vitals.check()
	const next = await other.start(undefined, undefined, ['mail'])
	next.report(6n)
	await next.vitals.check()
	expect(other.said()).toEqual(['system.stalled'])
})

test('default: seven wrong saves over a restart are one message, its end is one, the next is news again', async () => {
	const { start, posted, said } = place()
	const first = await start()
	for (const save of ['one', 'two', 'three', 'one']) await first.refusals.refused(save)
	const second = await start()
	for (const save of ['one', 'four', 'five']) await second.refusals.refused(save)
	await second.refusals.accepted()
	await second.refusals.accepted()
	expect(said()).toEqual(['system.refused', 'system.recovered'])
	const [refused, recovered] = posted.map(({ message }) => message.data)
	expect(refused).toMatchObject({ reason: expect.stringContaining(': one. To do'), checkpoint: 137, head: 138 })
	expect(recovered).toMatchObject({ ends: 'refused', id: refused?.id.replace('system_refused', 'system_recovered') })
	// The same files, wrong once more: a receiver that drops repetitions must not drop this.
	await (await start()).refusals.refused('one')
	expect(posted.at(-1)?.message.type).toBe('system.refused')
	expect(posted.at(-1)?.id).not.toBe(posted[0]?.id)
})

test('behavior: killed at any write, what was announced is ended, once each', async () => {
	for (let writes = 0; writes < 8; writes += 1) {
		const { start, posted, said, pass } = place()
		const first = await start(['ethereum'], writes)
		first.report(5n)
		pass(11 * minute)
		await first.vitals.check()
		await first.refusals.refused('wrong')
		first.report(6n)
		await first.vitals.check()
		await first.refusals.accepted()
		const wasTold = said()

		const second = await start()
		second.report(7n)
		await second.vitals.check()
		await second.refusals.accepted()
		const found = posted.map(({ message: { type, data } }) =>
			'ends' in data && data.ends === 'refused' ? 'mended' : type,
		)
		const counts = (type: string) => found.filter((each) => each === type).length
		for (const [begin, end] of [
			['system.stalled', 'system.recovered'],
			['system.refused', 'mended'],
		] as const) {
			expect(counts(begin), `${writes} writes`).toBeLessThanOrEqual(1)
			// Nobody hears of an end who did not hear of its beginning.
			expect(counts(end), `${writes} writes`).toBeLessThanOrEqual(counts(begin))
			if (wasTold.some((type) => type === begin)) expect(counts(end), `${writes} writes`).toBe(1)
		}
	}
})
