/**
 * The truth scenario: a chain of many blocks with every case of payment, creation and failure, and random trees
 * besides, the same for the same seed. It is planned by hand (see ledger.ts) before any node sees it, so its watchlist
 * and what must be told are known beforehand.
 */

import type { Span } from '../../src/model/chain.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import { ether, type Hand } from './anvil.js'
import { createChance } from './chance.js'
import { endings } from './endings.js'
import { type Consequence, createLedger } from './ledger.js'
import { movements } from './movements.js'
import { createAddress, encodeActions, puppetInit } from './puppet.js'
import type { Cases, Cast, Scripted } from './stagecraft.js'
import { growTree } from './trees.js'
import { undoings } from './undoings.js'

export interface ScenarioOptions {
	/** Default: 1. */
	readonly seed?: number
	/** Blocks of the whole chain. Default: 70; the cases need about 30. */
	readonly blocks?: number
	/** Since Cancun a self-destruct ends young contracts only. Default: prague. */
	readonly hardfork?: 'shanghai' | 'prague' | 'osaka'
}

export interface PlannedTx extends Scripted {
	readonly name: string
	readonly consequence: Consequence
}

export interface Plan {
	/** For `startTestAnvil`; the chain must be fresh. */
	readonly anvilArgs: readonly string[]
	/** Accounts with keys, contracts that stand, will stand, or never come to be; each once. */
	readonly watched: readonly Address[]
	/** The first is block 1. */
	readonly blocks: readonly (readonly PlannedTx[])[]
}

export interface ScenarioTx extends PlannedTx {
	readonly hash: Hash
	readonly block: bigint
	readonly feeWei: bigint
}

export interface Scenario {
	readonly watched: readonly Address[]
	readonly span: Span
	/** In the order of the chain. */
	readonly transactions: readonly ScenarioTx[]
}

/** Accounts of Anvil's usual mnemonic: 0 deploys the puppets. The tips go to no one's account. */
const deployer: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const coinbase: Address = '0x00000000000000000000000000000000c01bba5e'
const puppet = (nonce: bigint) => createAddress(deployer, nonce)

const cast: Cast = {
	alice: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
	bob: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
	dave: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
	erin: '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
	w0: puppet(0n),
	w1: puppet(1n),
	w2: puppet(2n),
	u0: puppet(3n),
	u1: puppet(4n),
	u2: puppet(5n),
	lender: puppet(6n),
}
const { alice, bob, dave, erin, w0, w1, w2, u0, u1, u2, lender } = cast
const puppets = [w0, w1, w2, u0, u1, u2]

/** Below the 2^24 that Osaka allows a transaction (EIP-7825). */
const plentyOfGas = 16_000_000n

/** Plans the scenario; nothing is sent. */
export function planScenario({ seed = 1, blocks = 70, hardfork = 'prague' }: ScenarioOptions = {}): Plan {
	const chance = createChance(seed)
	const rich = [deployer, alice, bob, dave, erin].map((address) => [address, 10_000n * ether] as const)
	const ledger = createLedger(new Map(rich), hardfork === 'shanghai' ? 'all' : 'young')
	const watched = new Set<Address>([alice, bob, w0, w1, w2])
	const watch = (address: Address) => {
		watched.add(address)
		return address
	}
	const plan = (name: string, tx: Scripted): PlannedTx => ({ ...tx, name, consequence: ledger.run(tx) })

	const setting = [
		...[...puppets, lender].map(() =>
			plan('puppet', { from: deployer, to: null, valueWei: 0n, actions: [], init: puppetInit }),
		),
		...puppets.map((to) => plan('funding', { from: dave, to, valueWei: 20n * ether, actions: [] })),
	]
	const planned: PlannedTx[][] = [setting]
	const queue = Object.entries<Cases[string]>({ ...movements, ...undoings, ...endings })
	while (queue.length > 0) {
		const batch = queue.splice(0, 1 + chance.number(4))
		planned.push(batch.map(([name, build]) => plan(name, build({ cast, ledger, watch }))))
	}

	// Two kinds of constructors, one of which fails now and then for want of coins.
	const acting = [
		ledger.acting(lender, [{ do: 'call', to: alice, valueWei: 5n }]),
		ledger.acting(lender, [
			{ do: 'call', to: u0, valueWei: 1000n, bubble: true },
			{ do: 'create', init: puppetInit, valueWei: 1n },
		]),
	]
	while (planned.length < blocks) {
		const block: PlannedTx[] = []
		// An empty block now and then.
		for (let left = chance.number(6); left > 0; left--) {
			// Whatever came to be may be called again; half of it is watched.
			const grown = planned.flat().flatMap(({ consequence }) => consequence.born.map(({ address }) => address))
			const stage = {
				chance,
				puppets: [...puppets, ...puppets, ...grown.slice(-8)],
				accounts: [alice, bob, erin, ...grown.slice(-4)],
				acting,
			}
			const to = chance.pick(puppets)
			const tx = plan('random', {
				from: chance.pick([dave, erin, alice, bob]),
				to,
				valueWei: BigInt(chance.number(1000)) * 10n ** 15n,
				actions: growTree(stage, to, 3 + chance.number(2)),
			})
			for (const { address } of tx.consequence.born) if (chance.percent(50)) watch(address)
			for (const address of tx.consequence.stillborn) if (chance.percent(20)) watch(address)
			block.push(tx)
		}
		planned.push(block)
	}
	const anvilArgs = ['--no-mining', '--order', 'fifo', '--gas-limit', '1000000000', '--hardfork', hardfork]
	return { anvilArgs, watched: [...watched], blocks: planned }
}

/** Carries a plan out. Throws when the chain takes a transaction otherwise than planned. */
export async function playScenario({ watched, blocks }: Plan, hand: Hand): Promise<Scenario> {
	if ((await hand.head()) !== 0n) throw new Error('the scenario needs a fresh chain')
	await hand.rpc('anvil_setCoinbase', [coinbase])
	const transactions = await playBlocks(blocks, hand)
	return { watched, span: { from: 1n, to: await hand.head() }, transactions }
}

/** Mines the blocks of a plan; the ones before them must be on the chain. Throws as `playScenario`. */
export async function playBlocks(blocks: Plan['blocks'], hand: Hand): Promise<ScenarioTx[]> {
	const transactions: ScenarioTx[] = []
	let block = 0n
	for (const planned of blocks) {
		const hashes: Hash[] = []
		for (const { from, to, valueWei, init, actions, gas = plentyOfGas } of planned) {
			const data = init ?? encodeActions(actions)
			hashes.push(await hand.send({ from, ...(to && { to }), valueWei, data, gas }))
		}
		block = await hand.mine()
		const receipts = await Promise.all(hashes.map((hash) => hand.receipt(hash)))
		for (const [index, tx] of planned.entries()) {
			const receipt = receipts[index]
			if (receipt === undefined) throw new Error('a receipt for each transaction')
			const told = {
				block: BigInt(receipt.blockNumber),
				index: Number(receipt.transactionIndex),
				status: receipt.status,
			}
			const meant = { block, index, status: tx.consequence.succeeded ? '0x1' : '0x0' }
			if (JSON.stringify(told, text) !== JSON.stringify(meant, text)) {
				throw new Error(`"${tx.name}" is ${JSON.stringify(told, text)}, planned as ${JSON.stringify(meant, text)}`)
			}
			const feeWei = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
			transactions.push({ ...tx, hash: receipt.transactionHash, block, feeWei })
		}
	}
	return transactions
}

function text(_key: string, value: unknown) {
	return typeof value === 'bigint' ? value.toString() : value
}
