// `explain` of alerts that no call or log tells: it asks the node for all of it again, and says what it says now.
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { assemble } from '../../src/devnode/assembler.js'
import { initOf } from '../../src/devnode/demoContracts.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import { hex, startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hideLeaves } from '../support/hiding.js'
import { inFull } from '../support/longRun.js'
import { hookServer, settings, siteOf, told } from './site.js'

/** Account 1 of Anvil's usual mnemonic. */
const owner = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const watched = owner.address.toLowerCase() as Address
const delegate: Address = '0x00000000000000000000000000000000000d0001'
/** Pays what it is sent to the watch, in a call inside. */
const forwards = initOf(assemble(`0 0 0 0 CALLVALUE ${watched} GAS CALL STOP`))

async function open() {
	const node = await startTestAnvil(['--no-mining', '--hardfork', 'prague'])
	const lists = new Map<bigint, object[]>()
	let isHiding = true
	const { dialect } = hideLeaves(() => isHiding)
	const gateway = await startDialectGateway(node.url, {
		...dialect,
		twist(method, params, result) {
			if (method === 'eth_getBlockByNumber' && typeof result === 'object' && result !== null) {
				return { ...result, withdrawals: lists.get(BigInt((result as { number: string }).number)) ?? [] }
			}
			return dialect.twist?.(method, params, result)
		},
	})
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const kinds = '[transfer, token, withdrawal, delegation, income, balance, unexplained]'
	const watch = `{address: "${watched}", label: Treasury, balance_below: 100, kinds: ${kinds}}`
	const files = {
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
		'watchlists/a.yaml': `network: local\nreceivers: [hook]\nwatches:\n  - ${watch}\n`,
	}
	const here = siteOf(files)
	const once = async () => {
		const { code, stdout, stderr } = await here.run(['once'])
		expect(code, stdout + stderr).toBe(0)
	}
	const credit = async (wei: bigint) => {
		const before = BigInt(await node.rpc<string>('eth_getBalance', [watched, 'pending']))
		await node.rpc('anvil_setBalance', [watched, hex(before + wei)])
	}
	const idOf = (kind: string): string => {
		const found = told(hook.hits).find(({ type }) => type === `alert.${kind}`)
		expect(found, kind).toBeDefined()
		return found.data.id
	}
	return { node, lists, here, files, once, credit, idOf, reveal: () => (isHiding = false) }
}

test('unexplained: the book, confirmed; and once the node tells of it, explained', async () => {
	const { node, here, once, idOf, reveal } = await open()
	const [stranger] = (await node.accounts()) as [Address]
	const made = await node.send({ from: stranger, data: forwards })
	await node.mine(2)
	const to = (await node.receipt(made)).contractAddress as Address
	await once()
	await node.send({ from: stranger, to, valueWei: 5_000_000_000_000_000_000n, gas: 100_000n })
	const block = await node.mine()
	await once()
	const id = idOf('unexplained')
	expect(id).toBe(`31337:${block}-${block}:balance:unexplained:${watched}`)
	const first = await here.run(['explain', id])
	expect(first.stdout).toContain(`Treasury ${owner.address}`)
	expect(first.stdout).toMatch(/^sent \d{4}-.*Z to hook: \[local\] UNEXPLAINED: .* Treasury rose by 5 ETH/m)
	expect(first.stdout).toMatch(new RegExp(`^${block - 1n} .*opening .* 10000$`, 'm'))
	expect(first.stdout).toMatch(new RegExp(`^${block} .*closing .* 10005$`, 'm'))
	expect(first.stdout).toMatch(/difference +5$/m)
	expect(first.stdout).toContain('Confirmed: the balance still moves by what no frame')
	expect(first.code, first.stderr).toBe(0)
	reveal()
	const second = await here.run(['explain', id.toUpperCase().replaceAll('0X', '0x')])
	expect(second.stdout).toContain('The books close: the difference is 0.')
	expect(second.stdout).toContain('EXPLAINED BY NOW')
	expect(second.code).toBe(1)
})

inFull(() => {
	test('withdrawal, income, balance, delegation: each by its own proof', async () => {
		const { node, lists, here, files, once, credit, idOf } = await open()
		const [stranger] = (await node.accounts()) as [Address]
		await node.mine(2)
		await once()
		lists.set((await node.head()) + 1n, [{ index: '0x7', validatorIndex: '0x2a', address: watched, amount: hex(17n) }])
		await credit(17_000_000_000n)
		const paid = await node.mine()
		await once()
		await node.rpc('anvil_setCoinbase', [watched])
		await node.send({ from: stranger, to: delegate, valueWei: 1n })
		const authored = await node.mine()
		await node.rpc('anvil_setCoinbase', [delegate])
		await once()
		const authorization = await owner.signAuthorization({ contractAddress: delegate, chainId: 31337, nonce: 1 })
		const raw = await owner.signTransaction({
			...{ type: 'eip7702', chainId: 31337, nonce: 0, gas: 500_000n, to: stranger, value: 9_950n * 10n ** 18n },
			...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n, authorizationList: [authorization] },
		})
		const txHash = await node.rpc<Hash>('eth_sendRawTransaction', [raw])
		const crossed = await node.mine()
		await once()

		const explain = async (kind: string, ...words: readonly (string | RegExp)[]) => {
			const { code, stdout, stderr } = await here.run(['explain', idOf(kind)])
			expect(code, `${kind}\n${stdout}${stderr}`).toBe(0)
			for (const one of words) expect(stdout).toMatch(one)
			expect(stdout).toMatch(/^sent \d{4}-/m)
			expect(stdout).toContain('Confirmed: the node says the same now.')
			return stdout
		}
		const closes = 'The books close: the difference is 0.'
		const withdrawn = `block ${paid} `
		await explain('withdrawal', withdrawn, 'withdrawal 7, of validator 42: 0.000000017 ETH', closes)
		await explain('income', `block ${authored} `, /its author earned 0\.\d+ ETH of 1 transactions/, closes)
		await explain('balance', `block ${crossed} `, 'balance_below is 100 ETH now', 'balance_below was 100 ETH', closes)
		await explain(
			'delegation',
			`block ${crossed} `,
			`auth_0 of transaction ${txHash} held for it`,
			/after it that of 0x0{35}D0001/i,
		)

		// Where nothing is kept, the headers lead to the block.
		const bare = siteOf(files)
		const { code, stdout } = await bare.run(['explain', idOf('withdrawal')])
		expect(stdout).toContain('it is not in the history')
		expect(stdout).toContain(withdrawn)
		expect(code).toBe(0)
		// Nothing of the kind is in the chain.
		const wrong = await bare.run(['explain', `31337:withdrawal:8:withdrawal:${watched}`, '--block', String(paid)])
		expect(wrong.code).toBe(1)
		expect(wrong.stdout).toContain('NOT CONFIRMED')
		const other = await bare.run(['explain', `1:withdrawal:8:withdrawal:${watched}`])
		expect([other.code, other.stderr]).toEqual([
			2,
			expect.stringContaining('the id is of chain 1, and no network here'),
		])
	})
})
