// Every message that the built program can send, brought about on a chain, as a webhook and as a mail get it; each held
// against the JSON Schema, with no field that the schema does not name.
import { createHmac } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { toChecksum } from '../../src/config/address.js'
import { jsonSchema } from '../../src/config/jsonSchema.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import { ether, hex, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { hideTransactions } from '../support/hiding.js'
import type { Hit } from '../support/hookServer.js'
import { startMailServer } from '../support/mailServer.js'
import { smallFigures, soonLeftOut } from '../support/preload.js'
import { callOf, erc20, erc721, erc1155 } from '../support/tokenContracts.js'
import { unnamedFields } from '../support/unnamedFields.js'
import { booksOpened, hookServer, siteOf } from './site.js'

const secret = `whsec_${Buffer.from('a secret of more than 24 bytes').toString('base64')}`
const [payer, treasury, stranger, deployer] = [
	'0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
	'0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
	'0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
	'0x90f79bf6eb2c4f870365e785982e1f101e93b906',
] as const satisfies readonly Address[]
/** Account 4 of Anvil's usual mnemonic. */
const delegated = privateKeyToAccount('0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a')
const author: Address = '0x00000000000000000000000000000000000a0f0e'
const staker: Address = '0x00000000000000000000000000000000000c0fee'
const purse: Address = '0x00000000000000000000000000000000000b0b0b'
/** Imitates the stranger: four digits at each end. */
const imitation: Address = `0x3c44${'7'.repeat(32)}93bc`

const env = smallFigures(`${soonLeftOut},firstRereadMs=500`)

const settings = (rpc: string, hook: string, mail: string) => `networks:
  - name: local
    chain_id: 31337
    rpc: ["${rpc}"]
    schedule: "* * * * * *"
    stall_after: 3s
    explorer: https://explorer.example
    tokens: [{symbol: USDC, address: "TOKEN", decimals: 6}]
receivers:
  - {name: hook, type: webhook, url: "${hook}/hook", secret: ${secret}}
  - {name: mail, type: email, smtp: "smtp://${mail}", from: tracewatch@example.org, to: [ops@example.org]}
  - {name: calm, type: webhook, url: "${hook}/calm", secret: ${secret}, digest: {every: 3s, max: 1}}
  - {name: gone, type: webhook, url: "${hook}/gone", fallback: hook}
`
const watchlist = `network: local
receivers: [hook, mail, calm]
watches:
  - {address: "${treasury}", label: Treasury, tags: [cold], tokens: all}
  - {address: "${toChecksum(deployer)}", label: Deployer, kinds: [deployment], receivers: [hook, gone]}
  - {address: "${delegated.address}", label: Signer, kinds: [delegation]}
  - {address: "${author}", label: Author, kinds: [income]}
  - {address: "${staker}", label: Staker, kinds: [withdrawal, request, call], calls: ["pause(uint256)"]}
  - {address: "${purse}", label: Purse, kinds: [balance, unexplained], balance_below: 0.5, balance_above: 2}
`

interface Body {
	readonly type: string
	readonly data: Readonly<Record<string, unknown>>
}

async function openChain() {
	const node = await startTestAnvil(['--no-mining', '--hardfork', 'prague'])
	const lists = new Map<bigint, object[]>()
	const failing = failingBlocks()
	const hiding = hideTransactions()
	const gateway = await startDialectGateway(node.url, {
		...hiding.dialect,
		twist(method, params, result) {
			failing.twist(method, params, result)
			const left = hiding.dialect.twist?.(method, params, result)
			if (method !== 'eth_getBlockByNumber' || typeof left !== 'object' || left === null) return left
			return { ...left, withdrawals: lists.get(BigInt((left as { number: string }).number)) ?? [] }
		},
	})
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	return { node, lists, failing, hiding, gateway }
}

async function deploy(node: TestAnvil, data: string): Promise<Address> {
	const hash = await node.send({ from: stranger, data, gas: 3_000_000n })
	return node.mine().then(async () => (await node.receipt(hash)).contractAddress as Address)
}

test('every message, by webhook and by mail, is what the schema says', async () => {
	const { node, lists, failing, hiding, gateway } = await openChain()
	const [hook, mail] = [await hookServer(), await startMailServer()]
	onTestFinished(() => mail.close())
	hook.answer = ({ url }) => (url === '/gone' ? 410 : 204)
	const usd = await deploy(node, erc20('FAKE', 6))
	const odd = await deploy(node, erc20('ODD', 2))
	const [nft, multi] = [await deploy(node, erc721()), await deploy(node, erc1155())]
	await node.rpc('anvil_setBalance', [purse, hex(ether)])
	await node.rpc('anvil_setCoinbase', [author])
	await node.rpc('anvil_impersonateAccount', [imitation])
	await node.rpc('anvil_setBalance', [imitation, hex(ether)])
	await node.mine(2)
	const site = siteOf({
		'tracewatch.yaml': settings(gateway.url, hook.origin, mail.host).replace('TOKEN', toChecksum(usd)),
		'watchlists/a.yaml': watchlist,
	})
	const running = site.start(['run'], env)
	await booksOpened(running)

	const parsed = new Map<Hit, Body>()
	const bodyOf = (hit: Hit): Body => {
		const body = parsed.get(hit) ?? (JSON.parse(String(hit.body)) as Body)
		parsed.set(hit, body)
		return body
	}
	const bodies = (path = '/hook'): readonly Body[] => hook.hits.filter(({ url }) => url === path).map(bodyOf)
	const heard = (type: string, path?: string) => bodies(path).filter((body) => body.type === type)
	const until = (type: string, count = 1, path?: string) => hook.until(() => heard(type, path).length >= count)

	// Coins: in, out, to itself; a contract.
	await node.send({ from: payer, to: treasury, valueWei: (3n * ether) / 2n, gas: 21_000n })
	await node.send({ from: treasury, to: stranger, valueWei: 5n, gas: 21_000n })
	await node.send({ from: treasury, to: treasury, valueWei: 7n, gas: 21_000n })
	await node.send({ from: deployer, data: erc721(), valueWei: 0n, gas: 3_000_000n })
	// Tokens of each standard, known and unknown.
	const zero: Address = `0x${'0'.repeat(40)}`
	const call = (to: Address, signature: string, ...args: readonly (bigint | Address)[]) =>
		node.send({ from: stranger, to, data: callOf(signature, ...args), gas: 500_000n })
	await call(usd, 'mint(address,uint256)', treasury, 1_500_000n)
	await call(odd, 'mint(address,uint256)', treasury, 150n)
	await call(nft, 'transferFrom(address,address,uint256)', zero, treasury, 7n)
	await call(multi, 'move(address,address,uint256,uint256)', zero, treasury, 3n, 4n)
	const two = 'moveTwo(address,address,uint256,uint256,uint256,uint256)'
	await call(multi, two, zero, treasury, 5n, 6n, 7n, 8n)
	await node.mine()
	await until('alert.transfer', 3)
	await until('alert.deployment')
	await until('alert.income')
	await until('alert.token', 6)
	await until('system.undelivered')

	// A withdrawal, as its header says and, in its state, really.
	const next = (await node.head()) + 1n
	lists.set(next, [{ index: '0x7', validatorIndex: '0x2a', address: staker, amount: '0x11' }])
	await node.rpc('anvil_setBalance', [staker, hex(17n * 10n ** 9n)])
	await node.mine()
	await until('alert.withdrawal')

	// Coins by an imitation of one who was paid before.
	const snapshot = await node.rpc<string>('evm_snapshot')
	await node.send({ from: imitation, to: treasury, valueWei: 1n, gas: 21_000n })
	// A request for an exit.
	await node.rpc('anvil_impersonateAccount', [staker])
	await node.rpc('anvil_setBalance', [staker, hex(ether)])
	const exit = { from: staker, to: '0x00000961ef480eb55e80d19ad83579a64c007002', valueWei: 1n, gas: 100_000n } as const
	await node.send({ ...exit, data: `0x${'a1'.repeat(48)}${'0'.repeat(16)}` })
	// A call, and a threshold.
	await node.send({ from: payer, to: staker, data: callOf('pause(uint256)', 7n), gas: 100_000n })
	await node.send({ from: payer, to: purse, valueWei: 2n * ether, gas: 21_000n })
	// A delegation by a sponsor.
	const authorization = await delegated.signAuthorization({ contractAddress: odd, chainId: 31337, nonce: 0 })
	const sponsor = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
	const nonce = Number(BigInt(await node.rpc<string>('eth_getTransactionCount', [payer, 'pending'])))
	const fees = { gas: 500_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n } as const
	const to = { type: 'eip7702', chainId: 31337, nonce, to: stranger } as const
	const raw = await sponsor.signTransaction({ ...to, ...fees, authorizationList: [authorization] })
	await node.rpc<Hash>('eth_sendRawTransaction', [raw])
	await node.mine()
	await until('alert.transfer', 4)
	await until('alert.request')
	await until('alert.call')
	await until('alert.balance')
	await until('alert.delegation')

	// All that leaves the chain.
	await node.rpc('evm_revert', [snapshot])
	await node.rpc('evm_increaseTime', [100])
	await node.mine(2)
	await until('alert.removed')
	await until('alert.digest', 1, '/calm')

	// Coins that nothing explains.
	hiding.hide(await node.send({ from: payer, to: purse, valueWei: ether, gas: 21_000n }))
	await node.mine()
	await until('alert.unexplained')

	// A block that cannot be read, and an edit that is wrong.
	const stir = async () => {
		await node.send({ from: payer, to: stranger, valueWei: 1n, gas: 21_000n })
		await node.mine()
	}
	await stir()
	const bad = await node.send({ from: payer, to: treasury, valueWei: 13n, gas: 21_000n })
	failing.hashes.add(bad)
	failing.numbers.add((await node.head()) + 1n)
	await node.mine()
	await stir()
	await stir()
	await until('system.gap')
	failing.hashes.clear()
	failing.numbers.clear()
	const recovered = (isEnd: (data: Body['data']) => boolean) =>
		hook.until(() => heard('system.recovered').some(({ data }) => isEnd(data)))
	await recovered(({ fromBlock }) => fromBlock !== undefined)
	const edit = (text: string) => {
		site.write('watchlists/a.yaml', text)
		running.process.kill('SIGHUP')
	}
	edit(watchlist.replace('label: Purse', 'lable: Purse'))
	await until('system.refused')
	edit(watchlist)
	await recovered(({ ends }) => ends === 'refused')

	// A head that stands, as it has since that block was read.
	// It may have stood before, on a slow machine: each time is reported, and its end.
	const standing = () => {
		const ended = new Set(heard('system.recovered').map(({ data }) => data.id))
		const ends = heard('system.stalled').map(({ data }) =>
			String(data.id).replace('system_stalled', 'system_recovered'),
		)
		return [...new Set(ends)].filter((id) => !ended.has(id))
	}
	await hook.until(() => standing().length === 1)
	await node.mine()
	await hook.until(() => standing().length === 0)
	expect((await running.stop()).code).toBe(0)
	const sent = await site.run(['test-send', 'hook'])
	expect(sent.code, sent.stderr).toBe(0)

	const all = hook.hits.filter(({ url }) => url !== '/gone')
	const schema = z.fromJSONSchema(jsonSchema('alert') as z.core.JSONSchema.JSONSchema)
	for (const { body, headers } of all) {
		const text = String(body)
		const parsed: Body = JSON.parse(text)
		expect(schema.safeParse(parsed).error?.message, text).toBeUndefined()
		expect(unnamedFields(parsed), text).toEqual([])
		const [id, at] = [headers['webhook-id'], headers['webhook-timestamp']]
		expect(parsed.data.deliveryId).toBe(id)
		expect(id).not.toContain('.')
		const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
		const mac = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')
		expect(headers['webhook-signature']).toBe(`v1,${mac}`)
	}
	const ids = new Set(bodies().map(({ data }) => data.id))
	const alertOf = (one: (typeof mail.mails)[0]) => one.parsed.headers.get('x-tracewatch-alert')
	for (const one of mail.mails) {
		const [id, { messageId, parsed, text }] = [alertOf(one), one]
		expect(ids).toContain(id)
		expect(messageId).toMatch(/^<msg_[0-9a-f]{32}@example\.org>$/)
		expect(parsed.headers.get('auto-submitted')).toBe('auto-generated')
		if (!String(id).includes('system_')) expect(text).toContain(id)
	}
	const [retracted] = mail.mails.filter(({ subject }) => subject.startsWith('[local] RETRACTED: '))
	const answered = mail.mails.find((one) => retracted && alertOf(one) === alertOf(retracted))
	expect([retracted?.parsed.references].flat()).toEqual([answered?.messageId])
	const types = new Set(all.map(({ body }) => JSON.parse(String(body)).type))
	expect([...types].sort()).toEqual(
		[
			...[
				'transfer',
				'deployment',
				'call',
				'request',
				'token',
				'withdrawal',
				'delegation',
				'income',
				'balance',
				'unexplained',
			],
			...['removed', 'digest'],
		]
			.map((kind) => `alert.${kind}`)
			.concat(
				['stalled', 'recovered', 'gap', 'refused', 'undelivered'].map((kind) => `system.${kind}`),
				'test',
			)
			.sort(),
	)
}, 600_000)
