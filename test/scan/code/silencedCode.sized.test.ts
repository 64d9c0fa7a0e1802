// A stranger cannot silence the alerts of code that a watch ran, hold them back, or make many of them for nothing.

import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256 } from 'ox/Hash'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Address, Hex } from '../../../src/model/glossary.js'
import { assemble } from '../../support/assembler.js'
import { type Dialect, Refused } from '../../support/dialectGateway.js'
import { describeOnce, inFull, sized, testInFull, testOnce } from '../../support/longRun.js'
import { type Action, create2Address, encodeActions, puppetCode, puppetInit } from '../../support/puppet.js'
import { ruledCode, writing } from '../../support/ruledContract.js'
import { soaked } from '../../support/soak.js'
import { alertOf } from '../bench.js'
import { lower, openCodeBench } from './codeBench.js'

const at = (name: string): Address => `0x${name.padStart(40, 'c0de')}`
const word = (number: number | bigint): Hex => `0x${BigInt(number).toString(16).padStart(64, '0')}`
/** Runs the code that the first 20 bytes of its input name. */
const walletCode = assemble(`
	20 CALLDATASIZE SUB 20 0 CALLDATACOPY
	0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL @ok JUMPI
	0 0 REVERT
	ok: STOP`)
/** Runs the code in slot 1000, which no list of places knows. */
const choosesCode = assemble('0 0 0 0 1000 SLOAD GAS DELEGATECALL STOP')
/** A proxy (EIP-1967). */
const implementationSlot: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const proxyCode = assemble(
	`CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${implementationSlot} SLOAD GAS DELEGATECALL STOP`,
)
const helperCode = assemble('7 0 CALLDATALOAD SSTORE STOP')
const [wallet, second, chooses, proxy] = [at('a1'), at('a2'), at('a3'), at('a4')]
const [helper, other, caller] = [at('b1'), at('b2'), at('d1')]
const runs = (code: Address, data: Hex = word(3)): Hex => `${code}${data.slice(2)}`

async function open(codes: Readonly<Record<Address, Hex>>, dialect: Dialect = {}, anvil: readonly string[] = []) {
	const watched = [wallet, second, chooses, proxy]
	const stage = await openCodeBench({
		async prepare(node) {
			const all = {
				[wallet]: walletCode,
				[second]: walletCode,
				[chooses]: choosesCode,
				[proxy]: proxyCode,
				[helper]: helperCode,
				[other]: helperCode,
				[caller]: puppetCode,
				...codes,
			}
			for (const one of Object.entries(all)) await node.rpc('anvil_setCode', one)
			await node.rpc('anvil_setStorageAt', [chooses, word(1000), word(BigInt(helper))])
			await node.rpc('anvil_setStorageAt', [proxy, implementationSlot, word(BigInt(helper))])
			return watched
		},
		dialect,
		anvil,
		options: { timeoutMs: 60_000 },
	})
	return { ...stage, act: (...actions: readonly Action[]) => stage.send(caller, encodeActions(actions)) }
}

const brief = ({ codeAddress, chosenByCaller, codeHash, count }: AlertData) =>
	`${lower(codeAddress)?.slice(-2)} ${chosenByCaller ? 'each' : 'once'} ${codeHash} ${count ?? ''}`.trim()
const known = keccak256(helperCode)
// 6,400 fit into one transaction. Its codes have 40 s, which a busy machine does not keep for as many.
const empties = soaked(sized(100, 500), 6_000)
/** Writes slot 1, then runs so many addresses without code. */
const hiding = (count: number) =>
	assemble(`
	7 1 SSTORE ${count}
	next: 0 0 0 0 DUP5 0xdead000000000000000000000000000000000000 ADD GAS DELEGATECALL POP
	1 SWAP1 SUB DUP1 @next JUMPI STOP`)
const refused = (message: string) => new Refused({ error: { code: -32000, message } })

const hidesCode = hiding(empties)
const few = 60
const hidesFew = hiding(few)

describe('behavior: foreign code that then runs addresses without code', () => {
	test(`is reported after ${empties} of them, and no code is asked for twice`, async () => {
		const asked: string[] = []
		const { node, sender, told } = await open(
			{ [other]: hidesCode },
			{
				twist(method, [address, block]) {
					if (method === 'eth_getCode') asked.push(`${address} ${block}`)
				},
			},
		)
		await node.send({ from: sender, to: wallet, data: runs(other), gas: 25_000_000n })
		expect((await told()).map(brief)).toEqual([`b2 each ${keccak256(hidesCode)}`])
		expect(asked).toHaveLength(new Set(asked).size)
		// Not before the block as well.
		expect(asked.length - empties).toBeLessThan(10)
	})

	testInFull(
		'is reported with its hash where the other codes cannot be read, and these are named without one',
		async () => {
			const dialect: Dialect = {
				twist(method, [address]) {
					if (method === 'eth_getCode' && String(address).startsWith('0xdead')) throw refused('no state')
				},
			}
			const { node, sender, told } = await open({ [other]: hidesFew }, dialect)
			await node.send({ from: sender, to: wallet, data: runs(other), gas: 25_000_000n })
			const alerts = await told()
			expect(alerts.length).toBeLessThan(30)
			expect(alerts.map(brief).slice(0, 1)).toEqual([`b2 each ${keccak256(hidesFew)}`])
			const others = alerts.slice(1)
			expect(new Set(others.map(({ codeHash }) => codeHash))).toEqual(new Set([null]))
			const ran = others.reduce((sum, { count = 1 }) => sum + count, 0)
			expect(ran).toBe(few)
		},
	)
})

describeOnce('behavior: a run of code that cannot be judged is reported', () => {
	test.each([
		['the codes', 'eth_getCode', `b1 each null`],
		['the tree of the transaction', 'trace_transaction', `b1 each ${known}`],
	])('%s cannot be read', async (_, lacking, expected) => {
		const dialect: Dialect = {
			twist(method) {
				if (method === lacking) throw refused('cannot be read')
			},
		}
		const { send, told } = await open({}, dialect)
		await send(wallet, runs(helper))
		expect((await told()).map(brief)).toEqual([expected])
	})
})

describeOnce('behavior: alerts of one watch do not wait for another, or for each other', () => {
	test('transactions of one watch that cannot be read: the alert of another one comes with the same poll', async () => {
		const hidden = new Set<unknown>()
		const dialect: Dialect = {
			twist(method, [txHash]) {
				if (method === 'trace_transaction' && hidden.has(txHash)) throw refused('cannot be read')
			},
		}
		const { send, bench, node } = await open({}, dialect)
		for (let times = 0; times < 30; times++) hidden.add(await send(second, runs(helper, word(times))))
		await send(wallet, runs(other))
		await node.mine()
		await bench.poll()
		expect((await bench.posted()).map(alertOf).map(({ codeAddress }) => lower(codeAddress))).toEqual([other])
	})

	test('20 alerts: their round trips are made side by side', async () => {
		const trips: { readonly from: number; readonly to: number }[] = []
		let isMeasured = false
		const dialect: Dialect = {
			async twist() {
				if (!isMeasured) return undefined
				const from = performance.now()
				await sleep(delayMs)
				trips.push({ from, to: performance.now() })
				return undefined
			},
		}
		const { send, bench, node } = await open({}, dialect)
		await node.automine(false)
		for (let times = 0; times < 10; times++) {
			await send(wallet, runs(helper, word(times)))
			await send(second, runs(other, word(times)))
		}
		await node.mine()
		isMeasured = true
		await bench.poll()
		expect(await bench.posted()).toHaveLength(20)
		expect(inSequence(trips)).toBeLessThan(30)
	})
})

const delayMs = 60

/** How many of these were made one after another, at most. */
function inSequence(trips: readonly { readonly from: number; readonly to: number }[]): number {
	let count = 0
	let last = Number.NEGATIVE_INFINITY
	for (const { from, to } of [...trips].sort((a, b) => a.to - b.to)) {
		if (from < last) continue
		count++
		last = to
	}
	return count
}

inFull(() => {
	describe('behavior: code that is gone after its block is reported', () => {
		test('a delegation (EIP-7702) that was set, run and cleared within the block', async () => {
			const { node, told, sender } = await open({}, {}, ['--order', 'fifo'])
			const owner = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
			const sponsor = privateKeyToAccount('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')
			const account = lower(owner.address) as Address
			const nonceOf = async (who: Address) => Number(await node.rpc('eth_getTransactionCount', [who, 'latest']))
			const [own, sponsored] = [await nonceOf(owner.address), await nonceOf(sponsor.address)]
			const raw = async (to: Address, contractAddress: Address, nth: number, data: Hex) => {
				const authorization = await owner.signAuthorization({ contractAddress, chainId: 31337, nonce: own + nth })
				const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n, gas: 500_000n }
				const tx = { type: 'eip7702', chainId: 31337, nonce: sponsored + nth, to, data, ...fees } as const
				return await sponsor.signTransaction({ ...tx, authorizationList: [authorization] })
			}
			await node.automine(false)
			await node.rpc('eth_sendRawTransaction', [await raw(wallet, helper, 0, runs(account))])
			await node.rpc('eth_sendRawTransaction', [await raw(sender, `0x${'00'.repeat(20)}`, 1, '0x')])
			const number = await node.mine()
			expect(await node.code(account, number)).toBe('0x')
			const designator = keccak256(`0xef0100${helper.slice(2)}`)
			const alerts = await told()
			expect(alerts.map(({ codeAddress, codeHash }) => [lower(codeAddress), codeHash])).toEqual([[account, designator]])
		})

		test('a contract made, run and destroyed by three transactions of a block, before EIP-6780', async () => {
			const { node, told, sender } = await open({}, {}, ['--order', 'fifo', '--hardfork', 'shanghai'])
			const made = create2Address(caller, 5n, puppetInit)
			const sends = (to: Address, data: Hex) => node.send({ from: sender, to, data, gas: 3_000_000n })
			await node.automine(false)
			await sends(caller, encodeActions([{ do: 'create2', init: puppetInit, salt: 5n }]))
			await sends(wallet, runs(made, encodeActions([])))
			await sends(caller, encodeActions([{ do: 'call', to: made, inner: [{ do: 'selfdestruct', heir: other }] }]))
			const number = await node.mine()
			expect(await node.code(made, number)).toBe('0x')
			await sends(wallet, runs(at('ee')))
			await node.mine()
			const alerts = await told()
			expect(alerts.map(({ codeAddress, codeHash }) => [lower(codeAddress), codeHash])).toEqual([[made, null]])
		})
	})
})

testOnce(
	'default: code that a proxy forwards to for one transaction is reported where its place is known',
	async () => {
		const { act, told } = await open({ [helper]: ruledCode, [other]: ruledCode })
		const setsAndSetsBack = () =>
			act(
				{ do: 'call', to: proxy, data: writing([implementationSlot, other]) },
				{ do: 'call', to: proxy, data: writing([implementationSlot, helper]) },
			)
		for (let times = 0; times < 2; times++) await setsAndSetsBack()
		expect((await told()).map(brief)).toEqual([`b2 once ${keccak256(ruledCode)}`])
	},
)

describeOnce('a transaction in two blocks of the chain (Celo, Cronos)', () => {
	/** The node gives the first occurrence by hash. */
	const openTwice = async () => {
		const renamed = new Map<string, string>()
		const twist: NonNullable<Dialect['twist']> = (_method, _params, result) => {
			let text = JSON.stringify(result)
			for (const [later, first] of renamed) text = text?.replaceAll(later, first)
			return text === undefined ? undefined : JSON.parse(text)
		}
		return { renamed, ...(await open({}, { twist })) }
	}

	test('default: code that ran in the second block is reported, without the storage of the first one', async () => {
		const { renamed, node, send, told } = await openTwice()
		const first = await send(wallet, runs(helper))
		const [alert] = await told()
		expect(alert?.changed).toHaveLength(1)
		const later = await send(wallet, runs(other, word(4)))
		renamed.set(later, first)
		const number = Number((await node.receipt(later)).blockNumber)
		const [, second] = await told()
		expect(second).toMatchObject({ blockNumber: number, txHash: first, changed: null })
		expect(lower(second?.codeAddress)).toBe(other)
		const [chain, hash, place, ...rest] = alert?.id.split(':') ?? []
		expect(second?.id).toBe([chain, hash, `${place}~${number}`, ...rest].join(':'))
	})

	test('behavior: after 20 alerts of a code on one day, the second occurrence makes none', async () => {
		const { renamed, send, told } = await openTwice()
		const first = await send(wallet, runs(helper))
		for (let times = 1; times < 20; times++) await send(wallet, runs(helper))
		expect(await told()).toHaveLength(20)
		renamed.set(await send(wallet, runs(helper)), first)
		expect(await told()).toHaveLength(20)
	})
})

inFull(() => {
	describe('behavior: a stranger makes few alerts for nothing', () => {
		test('the address of learnt code in the data: the alert on that code stays the only one', async () => {
			const { send, told } = await open({})
			await send(chooses, '0x12345678')
			expect((await told()).map(brief)).toEqual([`b1 once ${known}`])
			for (const data of [`0x12345678${helper.slice(2)}`, runs(helper), word(BigInt(helper))] as const)
				for (let times = 0; times < 3; times++) await send(chooses, data)
			expect(await told()).toHaveLength(1)
			// What the caller really chose is reported each time.
			for (let times = 0; times < 2; times++) await send(wallet, runs(helper))
			expect((await told()).map(brief)).toEqual([`b1 once ${known}`, `b1 each ${known}`, `b1 each ${known}`])
		})

		test('a public router: 20 alerts of a code, then one a day; other code at its address counts anew', async () => {
			const { node, send, told } = await open({})
			for (let times = 0; times < 22; times++) await send(wallet, runs(helper))
			expect(await told()).toHaveLength(20)
			for (let day = 1; day <= 2; day++) {
				await node.rpc('evm_increaseTime', [24 * 3_600])
				for (let times = 0; times < 3; times++) await send(wallet, runs(helper))
				expect(await told()).toHaveLength(20 + day)
			}
			const replaced = assemble('8 0 CALLDATALOAD SSTORE STOP')
			await node.rpc('anvil_setCode', [helper, replaced])
			await send(wallet, runs(helper))
			expect((await told()).map(brief).slice(20)).toEqual([
				`b1 each ${known} 3`,
				`b1 each ${known} 3`,
				`b1 each ${keccak256(replaced)}`,
			])
		})
	})
})
