// The truth test: a seeded scenario with every case, played on a real node; what the watcher tells is checked against
// the node's balances and against the plan of the scenario, neither of which knows a trace. And the books of each watch
// close at the head, with nothing said to be unexplained.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../src/model/alert.js'
import { alertOf, openBench, watchOf } from './scan/bench.js'
import { startTestAnvil } from './support/anvil.js'
import { expectBooksBalance, keepBooks } from './support/books.js'
import { expectSameIds } from './support/ids.js'
import { listening } from './support/listening.js'
import { divided, inFull } from './support/longRun.js'
import { planScenario, playScenario } from './support/scenario.js'

describe('truth', () => {
	const seeds = [
		['prague', 1],
		['prague', 2],
		['shanghai', 3],
		['osaka', 4],
	] as const

	test.each(divided<(typeof seeds)[number]>(seeds, (_, at) => at === 0))(
		'%s, seed %i: for every address and block the alerts are the balance change, and there is no other alert',
		async (hardfork, seed) => {
			const plan = planScenario({ seed, hardfork })
			const node = await startTestAnvil(plan.anvilArgs)
			onTestFinished(() => node.stop())
			const { log, said } = listening()
			// Of all kinds that a watch has by default, `unexplained` among them.
			const watches = plan.watched.map((address) => watchOf(address))
			const bench = await openBench({ urls: [node.url], watches, log })
			onTestFinished(() => bench.close())
			await bench.settle()
			const scenario = await playScenario(plan, node)
			await bench.settle()
			const alerts = (await bench.posted()).map(alertOf)
			expect(plan.blocks.length).toBeGreaterThanOrEqual(60)
			expect(alerts.length).toBeGreaterThan(100)
			expectBooksBalance(alerts, await keepBooks(scenario, node))
			await expectSameIds(
				alerts.map(({ id }) => id),
				`truth-${hardfork}-${seed}`,
			)
			// The second look and a replay from the beginning find nothing more.
			await node.mine(20)
			await bench.settle()
			expect(await bench.posted()).toHaveLength(alerts.length)
			expect(said).toEqual([])
			const head = await node.head()
			const state = await bench.store.network('local')
			for (const address of plan.watched) {
				const balanceWei = await node.balanceWei(address, head)
				expect(state?.books.get(address), address).toMatchObject({ block: head, balanceWei, movedWei: 0n })
			}
		},
	)

	inFull(() => {
		test('behavior: where every answer is read as it comes, as large ones are', async () => {
			const plan = planScenario({ seed: 7 })
			const node = await startTestAnvil(plan.anvilArgs)
			onTestFinished(() => node.stop())
			const watches = plan.watched.map((address) => watchOf(address))
			const bench = await openBench({ urls: [node.url], watches, streams: true })
			onTestFinished(() => bench.close())
			await bench.settle()
			const scenario = await playScenario(plan, node)
			await bench.settle()
			const alerts = (await bench.posted()).map(alertOf)
			expect(alerts.length).toBeGreaterThan(100)
			expectBooksBalance(alerts, await keepBooks(scenario, node))
		})

		test('behavior: a watch with `from_block` gets the same past alerts as one that was there', async () => {
			const plan = planScenario({ seed: 5 })
			const node = await startTestAnvil(plan.anvilArgs)
			onTestFinished(() => node.stop())
			const scenario = await playScenario(plan, node)
			const bench = await openBench({
				urls: [node.url],
				watches: plan.watched.map((address) => watchOf(address, { fromBlock: 1n })),
			})
			onTestFinished(() => bench.close())
			await bench.settle()
			const alerts: AlertData[] = (await bench.posted()).map(alertOf)
			expectBooksBalance(alerts, await keepBooks(scenario, node))
			await expectSameIds(
				alerts.map(({ id }) => id),
				'truth-prague-5-from-block',
			)
			expect(alerts.every(({ late }) => late)).toBe(true)
		})
	})
})
