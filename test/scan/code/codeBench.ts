/** Watched contracts on an Anvil of their own, with a bench that polls it. */

import { onTestFinished } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Address, Hex } from '../../../src/model/glossary.js'
import type { Watch } from '../../../src/model/watch.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from '../bench.js'

export interface CodeBench {
	readonly node: TestAnvil
	readonly bench: Bench
	readonly options: BenchOptions
	readonly watched: readonly Address[]
	/** An account of the node. */
	readonly sender: Address
	send(to: Address, data: Hex): Promise<Hex>
	/** Mines a block and polls until all of it is judged; resolves to all alerts so far. */
	told(): Promise<readonly AlertData[]>
}

export interface CodeStage {
	/** Puts contracts on the chain, before the first look; resolves to those to watch. */
	prepare(node: TestAnvil, sender: Address): Promise<readonly Address[]>
	readonly options?: Partial<BenchOptions>
	readonly part?: Partial<Watch>
	/** How the node answers. Default: as Anvil does. */
	readonly dialect?: Dialect
	/** Arguments of Anvil. */
	readonly anvil?: readonly string[]
}

export async function openCodeBench({
	prepare,
	options = {},
	part = {},
	dialect,
	anvil,
}: CodeStage): Promise<CodeBench> {
	const node = await startTestAnvil(anvil)
	onTestFinished(() => node.stop())
	const [sender] = (await node.accounts()) as [Address]
	const watched = await prepare(node, sender)
	const watches = watched.map((address) => watchOf(address, { kinds: ['code'], ...part }))
	const gateway = dialect && (await startDialectGateway(node.url, dialect))
	onTestFinished(() => gateway?.close())
	const whole = { urls: [gateway?.url ?? node.url], watches, books: false, ...options }
	const bench = await openBench(whole)
	onTestFinished(() => bench.close())
	await node.mine(2)
	await bench.settle()
	return {
		node,
		bench,
		options: whole,
		watched,
		sender,
		send: (to, data) => node.send({ from: sender, to, data, gas: 8_000_000n }),
		async told() {
			await node.mine()
			await bench.settle()
			// A poll judges for 8 s at most.
			while ((await bench.store.network('local'))?.audit?.ran !== undefined) await bench.poll()
			return (await bench.posted()).map(alertOf)
		},
	}
}

export const lower = (text: string | null | undefined) => text?.toLowerCase()
