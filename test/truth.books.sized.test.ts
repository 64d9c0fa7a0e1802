// The books close: for every watch after every block, on every source, and nothing is ever said to be unexplained that
// is not.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Kind } from '../src/model/kind.js'
import { openBench, watchOf } from './scan/bench.js'
import { startTestAnvil } from './support/anvil.js'
import { listening } from './support/listening.js'
import { divided } from './support/longRun.js'
import { planScenario, playScenario } from './support/scenario.js'

const kinds: readonly Kind[] = ['transfer', 'deployment', 'withdrawal', 'unexplained']

describe('books', () => {
	const seeds = [
		['osaka', 4],
		['prague', 1],
		['prague', 2],
		['shanghai', 3],
	] as const

	test.each(divided<(typeof seeds)[number]>(seeds, (_, at) => at === 0))(
		'%s, seed %i: they close at the head, to the balance of each watch',
		async (hardfork, seed) => {
			const plan = planScenario({ seed, hardfork })
			const node = await startTestAnvil(plan.anvilArgs)
			onTestFinished(() => node.stop())
			const { log, said } = listening()
			const watches = plan.watched.map((address) => watchOf(address, { kinds }))
			const bench = await openBench({ urls: [node.url], watches, log })
			onTestFinished(() => bench.close())
			await bench.settle()
			await playScenario(plan, node)
			await bench.settle()
			await node.mine(1)
			await bench.settle()
			const head = await node.head()
			expect(said).toEqual([])
			const unexplained = (await bench.posted()).filter(({ message }) => message.type === 'alert.unexplained')
			expect(unexplained.map(({ message }) => message.data)).toEqual([])
			const state = await bench.store.network('local')
			for (const address of plan.watched) {
				const balanceWei = await node.balanceWei(address, head)
				expect(state?.books.get(address), address).toMatchObject({ block: head, balanceWei, movedWei: 0n })
			}
		},
	)
})
