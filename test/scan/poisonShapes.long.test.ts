// Campaigns of address poisoning with shapes and imitations drawn at random: with `tokens: all` each is told, marked
// and trusted in nothing; with `tokens: known` what is told is marked, and strangers' tokens are not told at all.
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { headline } from '../../src/notify/text/sentence.js'
import { startTestAnvil } from '../support/anvil.js'
import { createChance } from '../support/chance.js'
import { callOf, erc20, liar, lie, signatures, wordOf } from '../support/tokenContracts.js'
import { alertOf, openBench, watchOf } from './bench.js'

const FRIENDS = 3
const CAMPAIGNS = 24
/** Whatever a stranger calls his token: the coin itself, turned round, hidden, with letters that look alike. */
const SYMBOLS = ['ETH', '\u202eHTE', 'USD\u200bC', 'U\u0405DC', 'ETH" from you', 'visit eth-gift.example.org']

test('behavior: no campaign is silenced, and none is taken for what it imitates', async () => {
	const chance = createChance(20_261_122)
	const digits = (count: number) => Array.from({ length: count }, () => chance.number(16).toString(16)).join('')
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [minter, alice, stranger] = (await node.accounts()) as [Address, Address, Address]
	const deploy = async (init: Hex) =>
		(await node.receipt(await node.send({ from: minter, data: init }))).contractAddress as Address
	const usd = await deploy(erc20('USDC', 6))
	const fakes: Address[] = []
	for (const symbol of SYMBOLS) fakes.push(await deploy(erc20(symbol, 6)))
	const many = await deploy(liar())
	const first = BigInt(await node.rpc<string>('eth_blockNumber', [])) + 1n
	const send = async (step: Parameters<typeof node.send>[0]) => void (await node.receipt(await node.send(step)))
	await send({ from: minter, to: usd, data: callOf('mint(address,uint256)', alice, 9_000_000n) })
	for (const fake of fakes) await send({ from: minter, to: fake, data: callOf('mint(address,uint256)', alice, 90n) })
	const friends = Array.from({ length: FRIENDS }, () => `0x${digits(40)}` as Address)
	for (const friend of friends) {
		await send({ from: alice, to: usd, data: callOf('transfer(address,uint256)', friend, 1_000_000n) })
	}

	/** As who makes a vanity address does it, by CREATE2 or by keys: so many digits at both ends, others between. */
	const imitationOf = (friend: Address): Address => {
		const [prefix, suffix] = [4 + chance.number(3), 4 + chance.number(3)]
		return `0x${friend.slice(2, 2 + prefix)}${digits(40 - prefix - suffix)}${friend.slice(42 - suffix)}` as Address
	}
	const topic = (address: Address): Hex => `0x${wordOf(address)}`
	const fake = () => fakes[chance.number(fakes.length)] as Address
	const transferFrom = 'transferFrom(address,address,uint256)'
	const shapes = {
		dust: (who: Address) => ({ from: who, to: alice, valueWei: BigInt(1 + chance.number(1_000)) }),
		'zero of a real token': (who: Address) => ({ from: stranger, to: usd, data: callOf(transferFrom, alice, who, 0n) }),
		counterfeit: (who: Address) => ({ from: stranger, to: fake(), data: callOf(transferFrom, alice, who, 1n) }),
		'batch of ERC-1155': (who: Address) => ({
			...{ from: stranger, to: many, gas: 500_000n },
			data: lie(
				[signatures.batch, topic(stranger), topic(alice), topic(who)],
				`0x${[64n, 160n, 2n, 7n, 8n, 2n, 1n, 1n].map(wordOf).join('')}`,
			),
		}),
	} as const
	const names = Object.keys(shapes) as (keyof typeof shapes)[]
	const played: { readonly name: keyof typeof shapes; readonly who: Address }[] = []
	for (let at = 0; at < CAMPAIGNS; at++) {
		const name = names[at % names.length] as keyof typeof shapes
		const who = imitationOf(friends[chance.number(FRIENDS)] as Address)
		await node.rpc('anvil_impersonateAccount', [who])
		await node.rpc('anvil_setBalance', [who, '0xde0b6b3a7640000'])
		await send(shapes[name](who))
		played.push({ name, who })
	}

	const told = async (tokens: 'all' | 'known') => {
		const bench = await openBench({
			urls: [node.url],
			watches: [watchOf(alice, { kinds: ['transfer', 'token'], tokens, fromBlock: first })],
			network: { tokens: new Map([[usd, { address: usd, symbol: 'USDC', decimals: 6, minAmountRaw: null }]]) },
			books: false,
		})
		onTestFinished(() => bench.close())
		await bench.settle()
		return (await bench.posted()).map((one) => {
			return { alert: alertOf(one), subject: headline(one.message), text: composeMessage(one.message).text }
		})
	}
	const all = await told('all')
	const known = await told('known')
	for (const { name, who } of played) {
		const isOther = ({ alert: { from, to } }: (typeof all)[number]) =>
			[from, to].some((one) => one?.toLowerCase() === who)
		const own = all.filter(isOther)
		expect(own, name).toHaveLength(name === 'batch of ERC-1155' ? 2 : 1)
		for (const { alert, subject, text } of own) {
			expect(alert.lookalike?.prefix, name).toBeGreaterThanOrEqual(4)
			expect(alert.lookalike?.suffix, name).toBeGreaterThanOrEqual(4)
			expect(friends).toContain(alert.lookalike?.of.toLowerCase())
			expect(subject).toContain('LOOK-ALIKE: ')
			if (alert.token === undefined || alert.token.address.toLowerCase() === usd) continue
			expect(alert.token.known).toBe(false)
			expect(subject).toMatch(/of the unknown (token|collection)|unknown token/)
			// Nothing that turns, hides, looks like another letter, ends its quotes, or becomes a link.
			expect(`${subject}${text}${alert.token.symbol}`).not.toMatch(/[\u200b\u202e\u0405]|gift\.example|ETH" from/)
		}
		const ofKnown = known.filter(isOther)
		expect(ofKnown, name).toHaveLength(name === 'dust' ? 1 : 0)
		for (const { alert } of ofKnown) expect(alert.lookalike).toBeDefined()
	}
	// Who was paid in earnest is marked by none of it.
	for (const { alert } of all)
		if (friends.includes(alert.to?.toLowerCase() as Address)) expect(alert.lookalike).toBeUndefined()
	expect(known.every(({ alert: { token } }) => token === undefined || token.known)).toBe(true)
})
