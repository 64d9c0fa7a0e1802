// A chain for measuring: the same transactions in the same blocks at every run, on a real node.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, Hash } from '../src/model/glossary.js'
import { type Receipt, startTestAnvil, type TestAnvil } from '../test/support/anvil.js'

/** Watched address number `index`; 100,000 of them exist. */
export function watched(index: number): Address {
	return `0x${createHash('sha256').update(`watched ${index}`).digest('hex').slice(0, 40)}`
}

export function watchedUpTo(count: number): readonly Address[] {
	return Array.from({ length: count }, (_, index) => watched(index))
}

/** From 0 up to, not including, 1; the same series for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
	let state = seed
	return () => {
		state = (state + 0x6d2b79f5) | 0
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
	}
}

export async function startChain(): Promise<TestAnvil> {
	return startTestAnvil(['--accounts', '20', '--balance', '1000000000'])
}

/** Passes its value on to the address in its call data: the inner payments of the chain. */
const splitter = '0x600f80600b6000396000f3600060006000600034600035' + '5af100'
/** The same, and then it takes all back: a payment that looks like one, and is none. */
const reverter = '0x601380600b6000396000f3600060006000600034600035' + '5af160006000fd'

/** Anvil answers a moment before it mines. */
export async function mined(anvil: TestAnvil, txHash: Hash): Promise<Receipt> {
	for (;;) {
		const receipt = await anvil.rpc<Receipt | null>('eth_getTransactionReceipt', [txHash])
		if (receipt !== null) return receipt
		await sleep(2)
	}
}

export interface Seeded {
	/** Number of the last block without a payment. */
	readonly from: bigint
	readonly to: bigint
	readonly transactions: number
}

/**
 * Of 20 payments in a block two go to one of the first 1,000 watched addresses, the lower the likelier; half are inner
 * ones. In each tenth block one more is taken back.
 */
export async function seedBlocks(anvil: TestAnvil, blocks: number, perBlock = 20): Promise<Seeded> {
	const random = seeded(5)
	const accounts = await anvil.accounts()
	const [first] = accounts
	if (first === undefined) throw new Error('the node has no accounts')
	const deploy = async (data: string) => {
		const { contractAddress } = await mined(anvil, await anvil.send({ from: first, data }))
		if (contractAddress === null) throw new Error('a contract was not deployed')
		return contractAddress
	}
	const [contractAddress, failing] = [await deploy(splitter), await deploy(reverter)]
	await anvil.automine(false)
	const from = await anvil.head()
	for (let block = 0; block < blocks; block += 1) {
		const payments = Array.from({ length: perBlock }, (_, at) => {
			const isWatched = at < perBlock / 10
			const payee = isWatched ? watched(Math.floor(1_000 * random() ** 2)) : other(random())
			const sender = accounts[at % accounts.length] ?? first
			return at % 2 === 0
				? { from: sender, to: payee, valueWei: 1n, gas: 21_000n }
				: {
						from: sender,
						to: contractAddress,
						valueWei: 1n,
						gas: 100_000n,
						data: `0x${payee.slice(2).padStart(64, '0')}`,
					}
		})
		await Promise.all(payments.map((payment) => anvil.send(payment)))
		if (block % 10 === 5) {
			const data = `0x${watched(block % 100)
				.slice(2)
				.padStart(64, '0')}`
			await anvil.send({ from: first, to: failing, valueWei: 1n, gas: 100_000n, data })
		}
		await anvil.mine()
	}
	await anvil.automine(true)
	const failed = Math.floor((blocks + 4) / 10)
	return { from, to: from + BigInt(blocks), transactions: blocks * perBlock + failed }
}

function other(random: number): Address {
	return `0x${createHash('sha256').update(`other ${random}`).digest('hex').slice(0, 40)}`
}
