// Books over endpoints that fail in passing, whatever the fault and its share: what a fault keeps from being asked is
// asked later, nothing is ever unexplained that is not, and what a node hides is told to the wei all the same.
import { describe, test } from 'vitest'
import { RpcError } from '../../src/errors.js'
import type { AlertData } from '../../src/model/alert.js'
import type { Kind } from '../../src/model/kind.js'
import { alertOf, type Bench, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import * as faults from '../support/faults.js'
import type { Fault } from '../support/faultyNode.js'
import { dueOfHidden, hideLeaves } from '../support/hiding.js'
import { listening } from '../support/listening.js'
import { planScenario, playScenario } from '../support/scenario.js'
import { soaked } from '../support/soak.js'
import { byChance, startStrained } from '../support/strained.js'

const kinds: readonly Kind[] = ['transfer', 'deployment', 'withdrawal', 'unexplained']

const faultKinds = {
	'502': faults.status(502, '<html>bad gateway</html>'),
	'429': faults.status(429, 'slow down'),
	'a cut body': faults.cutBody,
	'cut JSON': faults.cutJson,
	'a reset': faults.reset,
	'a wrong id': faults.wrongId,
	'a web page': faults.html,
	'an internal error': faults.rpcError(-32603, 'internal error'),
} as const satisfies Readonly<Record<string, Fault>>

type Row = readonly [kind: keyof typeof faultKinds | 'any of them', percent: number, node: string]

const shares = [
	[33, 'hides payments'],
	[33, 'tells all'],
	[10, 'hides payments'],
] as const
const each = Object.keys(faultKinds) as (keyof typeof faultKinds)[]
/**
 * Outside the soak one ride meets all kinds, since the books only know what was not answered. A node that hides
 * payments tells all of its other blocks.
 */
const some = soaked<readonly Row[]>(
	[
		['any of them', 33, 'hides payments'],
		['any of them', 10, 'hides payments'],
	],
	each.flatMap((kind) => shares.map(([percent, node]): Row => [kind, percent, node])),
)

/** Each kind in turn. */
function inTurn(): Fault {
	const all: readonly Fault[] = Object.values(faultKinds)
	let count = 0
	return (...given) => all[count++ % all.length]?.(...given)
}

async function alertsOf(bench: Bench, type: string): Promise<readonly AlertData[]> {
	return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
}

// Most of it is waiting for others.
describe.concurrent('books over a strained way', { timeout: 300_000 }, () => {
	test.for(some)(
		'behavior: %s, %i of 100, the node %s',
		async ([kind, percent, behaves], { expect, onTestFinished }) => {
			const plan = planScenario({ seed: 8, blocks: 40 })
			const node = await startTestAnvil(plan.anvilArgs)
			const { dialect, hidden } = hideLeaves((txHash) => behaves !== 'tells all' && BigInt(txHash) % 3n === 0n)
			const gateway = await startDialectGateway(node.url, dialect)
			const way = await startStrained(gateway.url, null)
			way.asksTogether = true
			const watches = plan.watched.map((address) => watchOf(address, { kinds }))
			const { log, said } = listening()
			let movedMs = 0
			const bench = await openBench({
				urls: [way.url],
				watches,
				log,
				clock: () => Date.now() + movedMs,
				// Waits pass at once.
				wait: async (ms) => {
					movedMs += ms
				},
				timeoutMs: 2_000,
				// Few tries, so that more is left to the polls.
				retry: { tries: 4 },
			})
			onTestFinished(async () => {
				await bench.close()
				await way.close()
				await gateway.close()
				await node.stop()
			})
			await bench.settle()
			const tryPoll = async () => {
				try {
					await bench.settle()
				} catch (error) {
					if (!(error instanceof RpcError)) throw error
				}
				// What rests after a failure has rested by the next poll.
				movedMs += 40_000
			}
			const { transactions } = await playScenario(plan, {
				...node,
				async mine(blocks) {
					const head = await node.mine(blocks)
					await tryPoll()
					// The books are open now.
					if (head === 1n) way.next = byChance(percent, kind === 'any of them' ? inTurn() : faultKinds[kind], 11)
					return head
				},
			})
			for (let more = 0; more < 8; more++) {
				await node.mine()
				await tryPoll()
			}
			way.next = () => null
			await node.mine()
			await tryPoll()
			await node.mine(20)
			const head = await node.head()
			const books = async () => (await bench.store.network('local'))?.books
			const isClosed = async () => {
				const all = await books()
				return plan.watched.every((one) => all?.get(one)?.block === head && all.get(one)?.movedWei === 0n)
			}
			// After many failures the endpoint rests for longer than one poll.
			for (let tries = 0; tries < 3 || (tries < 30 && !(await isClosed())); tries++) await tryPoll()

			const due = dueOfHidden(hidden(), transactions, plan.watched)
			const told = (await alertsOf(bench, 'alert.unexplained')).map(({ watch, fromBlock, toBlock, differenceWei }) => {
				expect(fromBlock).toBe(toBlock)
				return `${watch.address.toLowerCase()} ${toBlock} ${differenceWei}`
			})
			if (behaves !== 'tells all') expect(due.length).toBeGreaterThan(8)
			expect([...told].sort()).toEqual([...due].sort())
			expect(await alertsOf(bench, 'alert.removed')).toEqual([])
			expect(said.filter((line) => line.includes('nothing can be proved'))).toEqual([])
			const seen = (await bench.store.summary()).networks.get('local')?.seen?.books
			expect(seen?.unproved ?? []).toEqual([])
			const closed = await books()
			for (const address of plan.watched) {
				const balanceWei = await node.balanceWei(address, head)
				expect(closed?.get(address), address).toMatchObject({ block: head, balanceWei, movedWei: 0n })
			}
		},
	)
})
