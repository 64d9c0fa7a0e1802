// Nodes that no one has seen, before chains made by chance: what is told, less what was retracted, is what the maker of
// the chain knows to have moved, with its amount.
import { expect, onTestFinished, test } from 'vitest'
import type { Address } from '../src/model/glossary.js'
import { alertOf, type Bench, openBench, testNetwork, watchOf } from './scan/bench.js'
import { randomOf } from './support/random.js'
import { soaked } from './support/soak.js'
import { type StrangeBlock, type StrangeWorld, strangeBlock, strangeWorld, truthOf } from './support/strangeChain.js'
import { strangeManners } from './support/strangeManners.js'
import { startStrangeNode } from './support/strangeNode.js'

function grown(world: StrangeWorld, chain: readonly StrangeBlock[], fork: number, lost: readonly StrangeBlock[]) {
	const again = lost.flatMap(({ txs }) => txs.map(({ hash }) => hash))
	const all = [...chain]
	for (let left = lost.length + 3; left > 0; left--) {
		const mined = new Set(all.flatMap(({ txs }) => txs.map(({ hash }) => hash)))
		const open = again.filter((hash) => !mined.has(hash))
		all.push(strangeBlock(world, all.at(-1) ?? world.genesis, fork, open))
	}
	return all
}

/** What stands, by id, with its amount. */
async function standing(bench: Bench): Promise<ReadonlyMap<string, string | undefined>> {
	const told = new Map<string, string | undefined>()
	for (const delivery of await bench.posted()) {
		const { id, valueWei } = alertOf(delivery)
		const isRemoval = delivery.message.type === 'alert.removed'
		expect(told.has(id), `${delivery.message.type} ${id}`).toBe(isRemoval)
		if (isRemoval) told.delete(id)
		else told.set(id, valueWei)
	}
	return told
}

test.each(Array.from({ length: soaked(40, 200) }, (_, at) => at + 1))('a stranger, seed %i', async (seed) => {
	const manners = strangeManners(seed)
	const random = randomOf(seed)
	const world = strangeWorld(seed)
	let chain = grown(world, [world.genesis], 0, [])
	while (chain.length < 20) chain = grown(world, chain, 0, [])
	const node = await startStrangeNode(testNetwork.chainId, chain, manners, seed)
	const watched = new Set<Address>([...world.people.slice(0, 2), ...world.contracts.slice(0, 3)])
	let nowMs = Date.now()
	const bench = await openBench({
		urls: [node.url],
		clock: () => nowMs,
		async wait(ms) {
			nowMs += ms
		},
		watches: [...watched].map((address) => watchOf(address, { fromBlock: 1n })),
		network: { settle: 12 },
	})
	onTestFinished(async () => {
		await bench.close()
		await node.close()
	})
	/** Until all is scanned: a head that goes back, and traces that are not there yet, take more than one poll. */
	async function settle() {
		for (let left = 20; ; left--) {
			const report = await bench.settle().catch((error: unknown) => {
				if (left === 0) throw error
				// A source that gave nothing for a moment is passed over for a minute, and longer when it does so again.
				nowMs += 600_000
				return null
			})
			if (report?.checkpoint === node.chain.at(-1)?.number) return
			if (left === 0) throw new Error(`it stays at ${report?.checkpoint}`)
		}
	}
	for (let round = 0; round < 3; round++) {
		await settle()
		const truth = truthOf(testNetwork.chainId, chain, watched)
		expect(Object.fromEntries(await standing(bench)), JSON.stringify(manners)).toEqual(Object.fromEntries(truth))
		expect(truth.size).toBeGreaterThan(0)
		const depth = round === 0 ? 0 : 1 + Math.floor(random() * 6)
		const cut = chain.length - depth
		chain = grown(world, chain.slice(0, cut), round, chain.slice(cut))
		node.chain = chain
	}
})
