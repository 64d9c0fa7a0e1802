// Watched contracts that write and log what a transaction says, on an Anvil behind one or more gateways.
import { onTestFinished } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Address } from '../../../src/model/glossary.js'
import type { Watch } from '../../../src/model/watch.js'
import { startTestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'
import { word } from '../../support/ruledContract.js'
import { type Event, type Pair, scribeCode, scribing } from '../../support/scribe.js'
import { alertOf, type BenchOptions, openBench, watchOf } from '../bench.js'

export const at = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
export const [ruled, admin] = [at(1), at(2)]
const someone = (digit: string): Address => `0x${digit.repeat(40)}`
export const [a, b, c, d] = [someone('a'), someone('b'), someone('c'), someone('d')]

export const slots = {
	implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
	admin: '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
	paused: '0xcd5ed15c6e187e77e9aee88184c21f4f2182ab5827cb3b7e07fbedcd63f03300',
} as const
export const upgraded = (to: Address): Event => ({ event: 'Upgraded(address)', topics: [to] })

export interface ScribedOptions extends Partial<BenchOptions> {
	readonly storage?: readonly Pair[]
	/** Each is an endpoint. */
	readonly dialects?: readonly Dialect[]
	readonly watch?: Partial<Watch>
}

export async function openScribed({ storage = [], dialects = [{}], watch, ...options }: ScribedOptions = {}) {
	const anvil = await startTestAnvil()
	onTestFinished(() => anvil.stop())
	await anvil.automine(false)
	for (const address of [ruled, admin]) await anvil.rpc('anvil_setCode', [address, scribeCode])
	for (const [slot, value] of storage) await anvil.rpc('anvil_setStorageAt', [ruled, word(slot), word(value)])
	await anvil.mine(1)
	const [payer] = (await anvil.accounts()) as [Address]
	const gateways = await Promise.all(dialects.map((dialect) => startDialectGateway(anvil.url, dialect)))
	const watches = [watchOf(ruled, { kinds: ['control'], ...watch })]
	const urls = gateways.map(({ url }) => url)
	const bench = await openBench({ urls, watches, network: { settle: 3 }, books: false, ...options })
	onTestFinished(async () => {
		await bench.close()
		for (const gateway of gateways) await gateway.close()
	})
	await bench.settle()
	const send = (pairs: readonly Pair[], event: Event | null = null, to = ruled) =>
		anvil.send({ from: payer, to, data: scribing(pairs, event), gas: 300_000n })
	const mine = async () => {
		await anvil.mine(1)
		return Number(await anvil.head())
	}
	const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value)
	/** Type, place in the id, change, previous, current, evidence. */
	const told = async () =>
		(await bench.posted()).map((delivery) => {
			const { id, change, previous, current, evidence } = alertOf(delivery)
			return [delivery.message.type.slice(6), id.split(':')[2], change, lower(previous), lower(current), evidence]
		})
	const alerts = async (): Promise<readonly AlertData[]> => (await bench.posted()).map((one) => alertOf(one))
	const evidence = async () =>
		[...((await bench.store.network('local'))?.announcements.values() ?? [])].map(
			({ alerts: [first], status }) => `${status} ${first?.data.evidence}`,
		)
	/** Second looks, and the rotation. */
	const lookAgain = async () => {
		for (let look = 0; look < 5; look++) {
			bench.pass(300_000)
			await anvil.mine(1)
			await bench.settle()
		}
	}
	return { anvil, bench, send, mine, told, alerts, evidence, lookAgain }
}

/** A node whose headers say that no block has a log. */
export function withoutLogs(isHiding: () => boolean): Dialect {
	const none = `0x${'0'.repeat(512)}`
	return {
		twist(method, _params, result) {
			if (method !== 'eth_getBlockByNumber' || result === null || !isHiding()) return undefined
			return { ...(result as object), logsBloom: none }
		},
	}
}
