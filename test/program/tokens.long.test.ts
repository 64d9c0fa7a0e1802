// Tokens as a person has them: configuration, `check`, `run` to a webhook, `replay`, `explain`.
import { expect, onTestFinished, test } from 'vitest'
import { toChecksum } from '../../src/config/address.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { callOf, erc20, erc721 } from '../support/tokenContracts.js'
import { hookServer, inProcess, other, polled, settings, siteOf, stranger, told, treasury, watchlist } from './site.js'

test('a token named in the settings, from the watchlist to the webhook', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const deploy = async (data: string) => (await node.receipt(await node.send({ from: other, data }))).contractAddress
	const [usd, nft] = [(await deploy(erc20('FAKE', 6))) as Address, (await deploy(erc721())) as Address]
	const hook = await hookServer()
	const named = `    tokens:
      - {symbol: USDC, address: "${toChecksum(usd)}", decimals: 6, min_amount: 0.5}
      - {symbol: PUNK, address: "${toChecksum(nft)}", decimals: 0}
`
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, named),
		'watchlists/a.yaml': watchlist([
			`{address: "${treasury}", label: Treasury}`,
			`{address: "${stranger}", tokens: [PUNK], kinds: [token], direction: in}`,
		]),
	})
	const check = await inProcess(site).run(['check'])
	expect(check.code, check.stderr).toBe(0)
	expect(check.stdout).toContain('knows 2 tokens: USDC from 0.5, PUNK')
	expect(check.stdout).toMatch(/Treasury .*, known tokens, /)
	expect(check.stdout).toContain(`${toChecksum(stranger)} on local: PUNK in → hook`)

	const running = site.start(['run'])
	await polled(running)
	const from = await node.head()
	const mint = (amount: bigint) => callOf('mint(address,uint256)', treasury, amount)
	await node.send({ from: other, to: usd, data: mint(499_999n) })
	const hash = await node.send({ from: other, to: usd, data: mint(1_500_000n) })
	const zero: Address = `0x${'0'.repeat(40)}`
	await node.send({ from: other, to: nft, data: callOf('transferFrom(address,address,uint256)', zero, stranger, 7n) })
	await hook.until(2)
	const [first, second] = told(hook.hits)
	expect(first.type).toBe('alert.token')
	expect(first.data).toMatchObject({
		id: `31337:${hash}:log_0:token:${treasury}`,
		kind: 'token',
		value: '1.5',
		asset: 'USDC',
		direction: 'in',
		initiator: toChecksum(other),
		token: {
			standard: 'erc20',
			address: toChecksum(usd),
			symbol: 'USDC',
			known: true,
			amountRaw: '1500000',
			amount: '1.5',
		},
	})
	expect(first.data).not.toHaveProperty('valueWei')
	expect(second.data.token).toMatchObject({ standard: 'erc721', symbol: 'PUNK', tokenId: '7', amountRaw: '1' })
	await running.stop('SIGTERM')

	const range = ['--network', 'local', '--from', String(from + 1n), '--to', 'latest']
	const replay = await inProcess(site).run(['replay', ...range])
	expect(
		replay.stdout
			.trim()
			.split('\n')
			.slice(1)
			.map((line) => line.split(/ +/).slice(2, 6).join()),
	).toEqual(['token,in,1.5,USDC', 'token,in,1,PUNK'])
	const explain = await inProcess(site).run(['explain', hash])
	expect(explain.stdout).toContain(`log_0  ERC-20  1.5 USDC  the zero address → Treasury ${toChecksum(treasury)}`)
	expect(explain.stdout).toContain('* counts for Treasury (a.yaml): token, in → hook')
	// Below its frame: the node can tell.
	expect(explain.stdout).toMatch(/\n {3}log_0/)
	expect(explain.stdout).not.toContain('by its logs')
})

test('check says how logs are proved, and status that all of them are', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const { contractAddress } = await node.receipt(await node.send({ from: other, data: erc20('FAKE', 6) }))
	const usd = contractAddress as Address
	await node.receipt(await node.send({ from: other, to: usd, data: callOf('mint(address,uint256)', treasury, 5n) }))
	await node.mine(5)
	const tokens = `    tokens: [{symbol: USDC, address: "${toChecksum(usd)}", decimals: 6}]\n`
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: 'http://127.0.0.1:9' }, tokens),
		'watchlists/a.yaml': watchlist([`{address: "${treasury}", from_block: 1}`]),
	})
	expect((await inProcess(site).run(['check'])).stdout).toMatch(/logs of tokens: .*, and in longer ones where/)
	await inProcess(site).run(['once'])
	expect(JSON.parse((await inProcess(site).run(['status', '--json'])).stdout).networks[0].logs).toBeNull()
})

test('replay marks an address that looks like a payee of the watch', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const friend: Address = `0x1234ab${'0'.repeat(27)}9876543`
	const imitation: Address = `0x1234ff${'7'.repeat(27)}1116543`
	await node.rpc('anvil_impersonateAccount', [imitation])
	await node.rpc('anvil_setBalance', [imitation, '0xde0b6b3a7640000'])
	const pay = async (from: Address, to: Address) => node.receipt(await node.send({ from, to, valueWei: 5n }))
	for (const [from, to] of [
		[imitation, treasury],
		[treasury, friend],
		[imitation, treasury],
	] as const)
		await pay(from, to)
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: 'http://127.0.0.1:9' }),
		'watchlists/a.yaml': watchlist([`{address: "${treasury}"}`]),
	})
	const { stdout } = await inProcess(site).run(['replay', '--from', '1', '--to', 'latest'])
	const [head, ...rows] = stdout
		.trim()
		.split('\n')
		.map((line) => line.split(/ +/)[11]?.toLowerCase() ?? '')
	expect([head, ...rows]).toEqual(['lookalike', '', '', friend])
})
