// A seeded scenario of token transfers on a real chain, by real contracts. What must be told is written down with each
// transaction, and checked against balanceOf and ownerOf in each block by whoever asks.
import { onTestFinished } from 'vitest'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import type { KnownToken } from '../../src/model/token.js'
import { startTestAnvil, type TestAnvil } from './anvil.js'
import { createChance } from './chance.js'
import { callOf, erc20, erc721, erc1155, liar, lie, signatures, wordOf, wrapped } from './tokenContracts.js'

/** One transfer that a watch on all tokens must be told of. */
export interface Moved {
	readonly token: Address
	readonly standard: 'erc20' | 'erc721' | 'erc1155'
	readonly from: Address
	readonly to: Address
	readonly amount: bigint
	readonly id: bigint | null
	/** As in the id of its alert. */
	readonly place: string
}

export interface Played {
	readonly hash: Hash
	readonly block: bigint
	readonly sender: Address
	readonly moves: readonly Moved[]
}

export interface TokenScenario {
	readonly node: TestAnvil
	readonly people: Readonly<Record<'alice' | 'bob' | 'carol' | 'dave', Address>>
	readonly contracts: Readonly<Record<Name, Address>>
	readonly known: ReadonlyMap<Address, KnownToken>
	readonly played: readonly Played[]
	/** First and last block in which something happened. */
	readonly span: { readonly from: bigint; readonly to: bigint }
}

type Name = 'usd' | 'fee' | 'odd' | 'nft' | 'kitty' | 'items' | 'weth' | 'liar'

export const zero: Address = `0x${'0'.repeat(40)}`
const feeTo: Address = '0x00000000000000000000000000000000000fee00'
const gas = 400_000n

interface Step {
	readonly sender: Address
	readonly to: Address
	readonly data: Hex
	readonly valueWei?: bigint
	readonly moves: readonly Omit<Moved, 'token'>[]
}

/** Plays it as it is made: each block, once mined, is told to `onBlock`. */
export async function playTokens(
	seed: number,
	{
		blocks = 12,
		onBlock,
	}: { readonly blocks?: number; readonly onBlock?: (played: TokenScenario) => Promise<void> } = {},
): Promise<TokenScenario> {
	const node = await startTestAnvil(['--order', 'fifo'])
	onTestFinished(() => node.stop())
	const [deployer, alice, bob, carol, dave] = (await node.accounts()) as [Address, Address, Address, Address, Address]
	const people = { alice, bob, carol, dave }
	const deploy = async (init: Hex) => {
		const { contractAddress } = await node.receipt(await node.send({ from: deployer, data: init }))
		return contractAddress as Address
	}
	const contracts = {
		usd: await deploy(erc20('FAKE', 6)),
		fee: await deploy(erc20('TAX', 18, feeTo)),
		odd: await deploy(erc20('ODD', 3)),
		nft: await deploy(erc721()),
		kitty: await deploy(erc721({ indexed: false })),
		items: await deploy(erc1155()),
		weth: await deploy(wrapped('WETH')),
		liar: await deploy(liar()),
	}
	const know = (name: Name, symbol: string, decimals: number | null): [Address, KnownToken] => [
		contracts[name],
		{ address: contracts[name], symbol, decimals, minAmountRaw: null },
	]
	const known = new Map([
		know('usd', 'USDC', 6),
		know('fee', 'TAX', 18),
		know('nft', 'PUNK', null),
		know('kitty', 'KITTY', null),
		know('items', 'ITEM', null),
		know('weth', 'WETH', 18),
	])
	const chance = createChance(seed)
	const everybody = Object.values(people)
	const owners = new Map<string, Address>()
	const played: Played[] = []
	const transfer = (to: Address, amount: bigint) => callOf('transfer(address,uint256)', to, amount)

	// Everybody has some of everything that can be had.
	await node.automine(false)
	const first: Step[] = everybody.flatMap((who) => [
		...(['usd', 'fee', 'odd'] as const).map((name) => ({
			sender: deployer,
			to: contracts[name],
			data: callOf('mint(address,uint256)', who, 1_000_000n),
			moves: [{ standard: 'erc20' as const, from: zero, to: who, amount: 1_000_000n, id: null, place: 'log_0' }],
		})),
		{
			sender: deployer,
			to: contracts.items,
			data: callOf('moveTwo(address,address,uint256,uint256,uint256,uint256)', zero, who, 1n, 500n, 2n, 700n),
			moves: [
				{ standard: 'erc1155' as const, from: zero, to: who, amount: 500n, id: 1n, place: 'log_0_0' },
				{ standard: 'erc1155' as const, from: zero, to: who, amount: 700n, id: 2n, place: 'log_0_1' },
			],
		},
		{
			sender: who,
			to: contracts.weth,
			data: callOf('deposit()'),
			valueWei: 1_000_000n,
			moves: [{ standard: 'erc20' as const, from: zero, to: who, amount: 1_000_000n, id: null, place: 'log_0' }],
		},
	])

	function step(): Step {
		const sender = chance.pick(everybody)
		const to = chance.pick([...everybody, feeTo])
		const amount = chance.pick([0n, 1n, BigInt(1 + chance.number(2_000))])
		const erc20Move = (from: Address, party: Address, value: bigint, place = 'log_0') => ({
			standard: 'erc20' as const,
			from,
			to: party,
			amount: value,
			id: null,
			place,
		})
		switch (chance.number(14)) {
			case 0:
			case 1:
				return { sender, to: contracts.usd, data: transfer(to, amount), moves: [erc20Move(sender, to, amount)] }
			case 2: {
				// Somebody else moves it: an approval is used.
				const owner = chance.pick(everybody)
				const data = callOf('transferFrom(address,address,uint256)', owner, to, amount)
				return { sender, to: contracts.usd, data, moves: [erc20Move(owner, to, amount)] }
			}
			case 3: {
				const fee = amount / 100n
				const moves = [erc20Move(sender, feeTo, fee), erc20Move(sender, to, amount - fee, 'log_1')]
				return { sender, to: contracts.fee, data: transfer(to, amount), moves }
			}
			case 4:
				return { sender, to: contracts.odd, data: transfer(to, amount), moves: [erc20Move(sender, to, amount)] }
			case 5: {
				const [name, id] = [chance.pick(['nft', 'kitty'] as const), BigInt(chance.number(6))]
				const owner = owners.get(`${name} ${id}`) ?? zero
				owners.set(`${name} ${id}`, to)
				const data = callOf('transferFrom(address,address,uint256)', owner, to, id)
				const moves = [{ standard: 'erc721' as const, from: owner, to, amount: 1n, id, place: 'log_0' }]
				return { sender, to: contracts[name], data, moves }
			}
			case 6: {
				const data = callOf('move(address,address,uint256,uint256)', sender, to, 1n, 1n)
				const moves = [{ standard: 'erc1155' as const, from: sender, to, amount: 1n, id: 1n, place: 'log_0' }]
				return { sender: chance.pick(everybody), to: contracts.items, data, moves }
			}
			case 7: {
				const data = callOf('moveTwo(address,address,uint256,uint256,uint256,uint256)', sender, to, 1n, 2n, 2n, 0n)
				const moves = [
					{ standard: 'erc1155' as const, from: sender, to, amount: 2n, id: 1n, place: 'log_0_0' },
					{ standard: 'erc1155' as const, from: sender, to, amount: 0n, id: 2n, place: 'log_0_1' },
				]
				return { sender, to: contracts.items, data, moves }
			}
			case 8: {
				const data = callOf('withdraw(uint256)', amount)
				return { sender, to: contracts.weth, data, moves: [erc20Move(sender, zero, amount)] }
			}
			case 11: {
				const moves = [erc20Move(sender, zero, amount)]
				return { sender, to: contracts.usd, data: callOf('burn(uint256)', amount), moves }
			}
			case 12: {
				const moves = [erc20Move(zero, sender, amount)]
				return { sender, to: contracts.weth, data: callOf('deposit()'), valueWei: amount, moves }
			}
			case 9:
				// More than there is: it reverts, and logs nothing.
				return { sender, to: contracts.usd, data: transfer(to, 10n ** 30n), moves: [] }
			case 10: {
				// A contract that lies: what it logs gets as an unknown token's, for a log is a claim.
				const words = [signatures.transfer, `0x${wordOf(sender)}`, `0x${wordOf(to)}`] as const
				return { sender, to: contracts.liar, data: lie(words, `0x${wordOf(7n)}`), moves: [erc20Move(sender, to, 7n)] }
			}
			default:
				return { sender, to: contracts.liar, data: chance.pick(oddLogs(sender, to)), moves: [] }
		}
	}

	const scenario: TokenScenario = {
		node,
		people,
		contracts,
		known,
		played,
		span: { from: (await node.head()) + 1n, to: 0n },
	}
	for (let block = 0; block < blocks; block++) {
		const steps = block === 0 ? first : Array.from({ length: 1 + chance.number(6) }, step)
		const sent: { readonly hash: Hash; readonly step: Step }[] = []
		for (const one of steps) {
			const { sender: from, to, data, valueWei = 0n } = one
			sent.push({ hash: await node.send({ from, to, data, valueWei, gas }), step: one })
		}
		const mined = await node.mine(1)
		for (const { hash, step: one } of sent) {
			const moves = one.moves.map((move) => ({ ...move, token: one.to }))
			played.push({ hash, block: mined, sender: one.sender, moves })
		}
		Object.assign(scenario.span, { to: mined })
		await onBlock?.(scenario)
	}
	await node.automine(true)
	return scenario
}

/** Logs that look like transfers and are none. */
function oddLogs(from: Address, to: Address): readonly Hex[] {
	const [one, other] = [`0x${wordOf(from)}`, `0x${wordOf(to)}`] as const
	const list = (...words: readonly bigint[]): Hex => `0x${words.map(wordOf).join('')}`
	return [
		lie([signatures.transfer]),
		// Nothing indexed, by a contract that no one knows.
		lie([signatures.transfer], `0x${wordOf(from)}${wordOf(to)}${wordOf(1n)}`),
		lie([signatures.transfer, one], `0x${wordOf(to)}${wordOf(1n)}`),
		lie([signatures.transfer, one, other]),
		lie([signatures.transfer, one, other], '0x01'),
		lie([signatures.transfer, `0x01${one.slice(4)}`, other], list(5n)),
		lie([signatures.single, one, one, other], list(1n)),
		lie([signatures.batch, one, one, other], list(64n, 128n, 1n, 1n, 2n)),
		lie([signatures.batch, one, one, other], list(64n, 96n, 2n ** 255n, 0n)),
		lie([signatures.batch, one, one, other], list(2n ** 200n, 64n)),
		lie([signatures.batch, one, one], list(64n, 96n, 0n, 0n)),
		lie([signatures.deposit, one], list(9n)),
		lie([signatures.withdrawal, one], list(9n)),
		lie([], '0x'),
	]
}
