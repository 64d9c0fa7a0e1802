// Delegations of EIP-7702 on a real chain, with the code of the address as the witness.

import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { unprovedLogsInWords } from '../../src/core/ledger/unprovedLogs.js'
import type { AlertData } from '../../src/model/alert.js'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import { alertOf, type Bench, type BenchOptions, openBench, watchOf } from '../scan/bench.js'
import { startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { type Dialect, Refused, startDialectGateway } from '../support/dialectGateway.js'
import { divided, inFull, testInFull, testOnce } from '../support/longRun.js'

/** Accounts 0 to 2 of Anvil's usual mnemonic. */
const sponsor = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const owner = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const other = privateKeyToAccount('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')
const watched = owner.address.toLowerCase() as Address
const first: Address = '0x00000000000000000000000000000000000d0001'
const second: Address = '0x00000000000000000000000000000000000d0002'
const nobody: Address = '0x0000000000000000000000000000000000000000'

async function open(
	dialect: Dialect = {},
	kept: Pick<BenchOptions, 'books' | 'isPrivate' | 'network' | 'runsOnce'> = {},
) {
	const node = await startTestAnvil(['--no-mining', '--hardfork', 'prague'])
	const gateway = await startDialectGateway(node.url, dialect)
	const bench = await openBench({
		urls: [gateway.url],
		watches: [watchOf(watched, { kinds: ['delegation', 'unexplained'] })],
		...kept,
	})
	onTestFinished(async () => {
		await bench.close()
		await gateway.close()
		await node.stop()
	})
	await node.mine(2)
	await bench.settle()
	const nonceOf = async (account: PrivateKeyAccount) =>
		Number(BigInt(await node.rpc<string>('eth_getTransactionCount', [account.address, 'pending'])))
	const sign = async (account: PrivateKeyAccount, to: Address, facts: { nonce?: number; chainId?: number } = {}) =>
		account.signAuthorization({
			contractAddress: to,
			chainId: facts.chainId ?? 31337,
			nonce: facts.nonce ?? (await nonceOf(account)),
		})
	type Signed = Awaited<ReturnType<typeof sign>>
	const send = async (
		list: readonly Signed[],
		facts: { by?: PrivateKeyAccount; to?: Address; nonce?: number } = {},
	) => {
		const by = facts.by ?? sponsor
		const raw = await by.signTransaction({
			type: 'eip7702',
			chainId: 31337,
			nonce: facts.nonce ?? (await nonceOf(by)),
			gas: 500_000n,
			maxFeePerGas: 10n ** 11n,
			maxPriorityFeePerGas: 1n,
			to: facts.to ?? other.address,
			authorizationList: [...list],
		})
		return node.rpc<Hash>('eth_sendRawTransaction', [raw])
	}
	const block = async () => {
		const number = await node.mine()
		await bench.settle()
		return number
	}
	return { node, bench, gateway, sign, send, block, nonceOf }
}

async function told(bench: Bench, type = 'alert.delegation'): Promise<readonly AlertData[]> {
	return (await bench.posted()).filter(({ message }) => message.type === type).map(alertOf)
}

const lower = (text: string | null | undefined) => (text == null ? text : text.toLowerCase())

/** What the chain itself says. */
async function codeOf(node: TestAnvil, block: bigint): Promise<Hex | null> {
	const code = await node.code(watched, block)
	return code === '0x' ? null : (`0x${code.slice(8)}` as Hex)
}

describe('delegation', () => {
	testOnce('default: set by a sponsor, changed in a transaction that fails, cleared by its owner', async () => {
		const { node, bench, sign, send, block, nonceOf } = await open()
		// A contract that reverts whatever it is asked.
		const deployed = await node.send({
			from: sponsor.address.toLowerCase() as Address,
			data: '0x6460006000fd6000526005601bf3',
			gas: 200_000n,
		})
		await block()
		const { contractAddress } = await node.receipt(deployed)
		if (contractAddress === null) throw new Error('no contract')

		const set = await send([await sign(other, first), await sign(owner, first)])
		expect(await codeOf(node, await block())).toBe(first)
		const changed = await send([await sign(owner, second)], { to: contractAddress })
		expect(await codeOf(node, await block())).toBe(second)
		expect((await node.receipt(changed)).status).toBe('0x0')
		const nonce = await nonceOf(owner)
		const cleared = await send([await sign(owner, nobody, { chainId: 0, nonce: nonce + 1 })], { by: owner, nonce })
		expect(await codeOf(node, await block())).toBeNull()
		await block()

		const seen = (await told(bench)).map(({ id, txHash, delegate, previous, authorisation, initiator }) => ({
			id,
			txHash,
			delegate: lower(delegate),
			previous: lower(previous),
			authorisation,
			initiator,
		}))
		expect(seen).toEqual([
			{
				id: `31337:${set}:auth_1:delegation:${watched}`,
				txHash: set,
				delegate: first,
				previous: null,
				authorisation: { chainId: 31337, nonce: 0 },
				initiator: sponsor.address,
			},
			{
				id: `31337:${changed}:auth_0:delegation:${watched}`,
				txHash: changed,
				delegate: second,
				previous: first,
				authorisation: { chainId: 31337, nonce: 1 },
				initiator: sponsor.address,
			},
			{
				id: `31337:${cleared}:auth_0:delegation:${watched}`,
				txHash: cleared,
				delegate: null,
				previous: second,
				authorisation: { chainId: 0, nonce: 3 },
				initiator: owner.address,
			},
		])
		expect(await told(bench, 'alert.unexplained')).toEqual([])
	})

	testOnce('behavior: a tuple with a wrong nonce, chain or signature is none', async () => {
		const { node, bench, sign, send, block } = await open()
		const right = await sign(owner, first)
		await send([
			await sign(owner, first, { nonce: 7 }),
			await sign(owner, first, { chainId: 5 }),
			{ ...right, address: second },
			{ ...right, yParity: right.yParity === 0 ? 1 : 0 },
		])
		expect(await codeOf(node, await block())).toBeNull()
		await block()
		expect(await told(bench)).toEqual([])
		// The same tuple as it was signed holds, after the wrong ones too.
		const hash = await send([await sign(owner, second, { nonce: 9 }), right])
		expect(await codeOf(node, await block())).toBe(first)
		expect(await told(bench)).toMatchObject([{ id: `31337:${hash}:auth_1:delegation:${watched}` }])
	})

	testOnce.each([
		[{ accessLists: true }, {}],
		[{}, {}],
		[{}, { books: false }],
	])('behavior: set and cleared in one block, both are reported: %j %j', async (dialect, kept) => {
		const { node, bench, sign, send, block, nonceOf } = await open(dialect, kept)
		const nonce = await nonceOf(owner)
		const [set, clear] = [
			await send([await sign(owner, first, { nonce })]),
			await send([await sign(owner, nobody, { nonce: nonce + 1 })]),
		]
		const number = await block()
		expect(await codeOf(node, number)).toBeNull()
		const alerts = await told(bench)
		expect(alerts.map(({ txHash, delegate, previous }) => [txHash, lower(delegate), lower(previous)])).toEqual([
			[set, first, null],
			[clear, null, first],
		])
		await block()
		expect(await told(bench)).toHaveLength(2)
	})

	describe('the code that it is delegated to makes contracts, each of which raises its nonce', () => {
		/** Makes a contract without code, twice: `PUSH0 PUSH0 PUSH0 CREATE POP`. */
		const makesTwo: Hex = '0x5f5f5ff0505f5f5ff05000'

		const use = (node: TestAnvil) =>
			node.send({ from: sponsor.address.toLowerCase() as Address, to: watched, gas: 500_000n })

		async function openMaking(kept: Pick<BenchOptions, 'books'>) {
			const opened = await open({}, kept)
			const { node, bench, block, nonceOf } = opened
			await node.rpc('anvil_setCode', [first, makesTwo])
			const after = async () => {
				const number = await block()
				for (let look = 0; look < 2; look++) await block()
				const { runs = [], blocks = 0 } = (await bench.store.summary()).networks.get('local')?.seen?.logs ?? {}
				return { code: await codeOf(node, number), uncovered: [...unprovedLogsInWords({ runs, blocks })] }
			}
			const seen = async () =>
				(await told(bench)).map(({ txHash, delegate, previous }) => [txHash, lower(delegate), lower(previous)])
			return { ...opened, nonce: await nonceOf(owner), after, seen }
		}

		test.each(divided([true, false], (books) => books))(
			'behavior: set, used and cleared in one block: both are reported; books: %s',
			async (books) => {
				const { sign, send, nonce, after, seen } = await openMaking({ books })
				const set = await send([await sign(owner, first, { nonce })], { to: watched })
				const clear = await send([await sign(owner, nobody, { nonce: nonce + 3 })])
				expect(await after()).toEqual({ code: null, uncovered: [] })
				expect(await seen()).toEqual([
					[set, first, null],
					[clear, null, first],
				])
			},
		)

		testOnce('behavior: used, then set to other code and back: both are reported', async () => {
			const { node, sign, send, block, nonce, after, seen } = await openMaking({ books: false })
			const begin = await send([await sign(owner, first, { nonce })])
			await block()
			await use(node)
			const set = await send([await sign(owner, second, { nonce: nonce + 3 })])
			const back = await send([await sign(owner, first, { nonce: nonce + 4 })])
			expect(await after()).toEqual({ code: first, uncovered: [] })
			expect(await seen()).toEqual([
				[begin, first, null],
				[set, second, first],
				[back, first, second],
			])
		})

		testOnce(
			'error: authorisations that lead to other code than it runs: the block is said not to be covered',
			async () => {
				const { node, sign, send, block, nonce, after, seen } = await openMaking({ books: false })
				const begin = await send([await sign(owner, first, { nonce })])
				await block()
				// Too early: it has this nonce only when it has made the first contract.
				await send([await sign(owner, second, { nonce: nonce + 2 })])
				await use(node)
				const { code, uncovered } = await after()
				expect(code).toBe(first)
				expect(uncovered).toEqual([expect.stringContaining('delegations not covered: block')])
				expect(await seen()).toEqual([[begin, first, null]])
			},
		)
	})

	testInFull(
		'behavior: with `proof: off` each is checked against the code, one that does not hold is none',
		async () => {
			const { node, bench, sign, send, block } = await open({}, { books: false })
			await send([await sign(owner, first, { nonce: 7 }), await sign(other, first)])
			expect(await codeOf(node, await block())).toBeNull()
			expect(await told(bench)).toEqual([])
			const before = await node.rpc<string>('evm_snapshot')
			// The transaction fails for want of what it calls, the delegation stays.
			const set = await send([await sign(owner, first), await sign(other, second)])
			expect(await codeOf(node, await block())).toBe(first)
			const id = `31337:${set}:auth_0:delegation:${watched}`
			const alerts = await told(bench)
			expect(alerts).toMatchObject([{ id, previous: null, authorisation: { chainId: 31337, nonce: 0 } }])
			expect(alerts[0]?.confirmed).toBeUndefined()
			await block()
			expect(await told(bench)).toHaveLength(1)
			await node.rpc('evm_revert', [before])
			await node.rpc('evm_increaseTime', [100])
			await node.mine(3)
			await bench.settle()
			expect((await told(bench, 'alert.removed')).map((alert) => alert.id)).toEqual([id])
		},
	)

	testOnce.each([
		[1, 0, true],
		[8, 9, true],
		[1_000, 9, true],
		[1_000, 10, false],
	])('behavior: with `proof: off`, a block fails %i times, for %i minutes', async (fails, minutes, isTold) => {
		let left = 0
		let bad: string | null = null
		const fail: Dialect['twist'] = (method, params) =>
			method === 'eth_getBlockByNumber' && params[1] === true && params[0] === bad && left-- > 0 ? 'crashed' : undefined
		const { bench, node, sign, send } = await open({ twist: fail }, { books: false })
		await send([await sign(owner, first)])
		left = fails
		bad = `0x${(await node.mine()).toString(16)}`
		const polls = async (count: number) => {
			for (let poll = 0; poll < count; poll++) await bench.settle().catch(() => undefined)
		}
		await polls(6)
		// Those of later blocks do not wait for it.
		const later = await send([await sign(owner, second)])
		await node.mine()
		await polls(2)
		const ids = async () => (await told(bench)).map(({ txHash }) => txHash)
		if (fails > 8) expect(await ids()).toEqual([later])
		bench.pass(minutes * 60_000)
		await polls(2)
		left = 0
		expect((await bench.settle()).checkpoint).toBe(await node.head())
		expect(await ids()).toHaveLength(isTold ? 2 : 1)
	})

	testOnce('behavior: two failures with a long outage between them give no block up', async () => {
		let fails = 0
		let isDown = false
		const fail: Dialect['twist'] = (method, params) => {
			const isBlock = method === 'eth_getBlockByNumber' && params[1] === true
			return isDown || (isBlock && fails-- > 0) ? 'crashed' : undefined
		}
		const { bench, node, sign, send } = await open({ twist: fail }, { books: false })
		await send([await sign(owner, first)])
		fails = 1
		await node.mine()
		await bench.settle()
		isDown = true
		bench.pass(12 * 60_000)
		await bench.settle().catch(() => undefined)
		isDown = false
		fails = 1
		for (let poll = 0; poll < 3; poll++) {
			bench.pass(60_000)
			await bench.settle()
		}
		expect(await told(bench)).toHaveLength(1)
	})

	testOnce('behavior: with `once`, no block waits for one that cannot be read', async () => {
		let bad: string | null = null
		const fail: Dialect['twist'] = (method, params) =>
			method === 'eth_getBlockByNumber' && params[1] === true && params[0] === bad ? 'crashed' : undefined
		const { bench, node, sign, send } = await open({ twist: fail }, { books: false, runsOnce: true })
		await node.send({ from: other.address.toLowerCase() as Address, to: watched, valueWei: 5n, gas: 21_000n })
		bad = `0x${(await node.mine()).toString(16)}`
		await bench.settle()
		await send([await sign(owner, first)])
		await node.mine()
		await bench.settle()
		expect(await told(bench)).toHaveLength(1)
	})

	inFull(() => {
		describe('1,000 authorisations without a valid signer before the one that delegates the watch', () => {
			/** With this nonce. Their signatures belong to no key: that is found out faster. */
			function buried(nonce: number): Dialect {
				const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
				const authorizationList = Array.from({ length: 1_001 }, (_, n) => {
					return { chainId: '0x7a69', nonce: `0x${nonce}`, address: second, r: word(0), s: word(n + 5), yParity: '0x0' }
				})
				return {
					twist(method, params, result) {
						if (method !== 'eth_getBlockByNumber' || params[1] !== true) return undefined
						const block = result as { transactions: object[] }
						if (block.transactions.length === 0) return undefined
						const junk = { ...block.transactions[0], hash: word(77), type: '0x4', authorizationList }
						return { ...block, transactions: [junk, ...block.transactions] }
					},
				}
			}
			const uncovered = async (bench: Bench) => [
				...unprovedLogsInWords(
					(await bench.store.summary()).networks.get('local')?.seen?.logs ?? { runs: [], blocks: 0 },
				),
			]

			test('default: with `proof: off` its code is compared, and the one with its nonce is reported', async () => {
				const { node, bench, sign, send, block } = await open(buried(5), { books: false })
				const set = await send([await sign(owner, first)])
				expect(await codeOf(node, await block())).toBe(first)
				expect(await told(bench)).toMatchObject([{ id: `31337:${set}:auth_0:delegation:${watched}` }])
				// What was set and taken back within the block would not be seen.
				expect(await uncovered(bench)).toEqual([expect.stringContaining('delegations not covered: block')])
			})

			test('behavior: where all of them have its nonce, what the code shows is reported', async () => {
				const { bench, sign, send, block } = await open(buried(0), { books: false })
				await send([await sign(owner, first)])
				await block()
				const alerts = await told(bench)
				expect(alerts.map(({ delegate, previous }) => [lower(delegate), previous])).toEqual([[first, null]])
			})

			test('behavior: where the node lacks `eth_call`, each code is asked for', async () => {
				const { bench, sign, send, block } = await open({ ...buried(5), lacks: ['eth_call'] }, { books: false })
				await send([await sign(owner, first)])
				await block()
				expect(await told(bench)).toHaveLength(1)
			})

			test.each([
				['a private network', {}, { isPrivate: true }],
				['no state', { lacks: ['eth_call', 'eth_getBalance', 'eth_getCode'] }, { books: false }],
			])('behavior: %s: the block is said not to be covered for delegations', async (_, dialect, kept) => {
				const { bench, sign, send, block } = await open({ ...buried(5), ...dialect }, kept)
				await send([await sign(owner, first)])
				const number = await block()
				expect(await told(bench)).toEqual([])
				expect(await uncovered(bench)).toEqual([expect.stringContaining(`delegations not covered: block ${number}: `)])
			})
		})
	})

	testOnce('behavior: a private network reports what was signed, as that, and names nothing to the node', async () => {
		const { bench, gateway, sign, send, block } = await open({}, { isPrivate: true })
		const set = await send([await sign(owner, first), await sign(other, second)])
		const wrong = await send([await sign(owner, second, { nonce: 99, chainId: 0 })])
		await block()
		await block()
		const alerts = await told(bench)
		expect(alerts.map(({ id, delegate, confirmed, previous }) => [id, lower(delegate), confirmed, previous])).toEqual([
			[`31337:${set}:auth_0:delegation:${watched}`, first, false, null],
			[`31337:${wrong}:auth_0:delegation:${watched}`, second, false, null],
		])
		const methods = ['eth_getCode', 'eth_getTransactionCount', 'eth_getTransactionByHash', 'eth_call', 'eth_getBalance']
		expect(methods.map((method) => gateway.count(method))).toEqual(methods.map(() => 0))
	})

	const unproved = [
		['a private network', { isPrivate: true }],
		['`proof: off`', { books: false }],
	] as const
	test.each(divided(unproved, (_, at) => at === 0))(
		'behavior: %s: alerts do not wait for what was signed, and a kill in between loses neither',
		async (_, kept) => {
			let held = Promise.resolve()
			const slow: Dialect['twist'] = async (method, params) => {
				if (method === 'eth_getBlockByNumber' && params[1] === true) await held
				return undefined
			}
			const { bench, node, sign, send } = await open({ twist: slow }, kept)
			bench.setWatches([watchOf(watched, { kinds: ['transfer', 'delegation'] })])
			let release: () => void = () => undefined
			held = new Promise((resolve) => {
				release = resolve
			})
			onTestFinished(() => release())
			const set = await send([await sign(owner, first)])
			await node.send({ from: other.address.toLowerCase() as Address, to: watched, valueWei: 5n, gas: 21_000n })
			const number = await node.mine()
			const end = new AbortController()
			const polling = bench.settle(end.signal).catch(() => undefined)
			await expect.poll(() => told(bench, 'alert.transfer')).toMatchObject([{ valueWei: '5' }])
			expect(await told(bench)).toEqual([])
			end.abort()
			await polling
			release()
			// The block waits in the queue, for what was signed in it; that it is no longer near the head changes nothing.
			await node.mine(40)
			const { checkpoint, audit } = (await bench.store.network('local')) ?? {}
			expect([checkpoint?.number, audit?.signed.map((one) => one.number)]).toEqual([number, [number]])
			await bench.settle()
			expect((await told(bench)).map(({ id }) => id)).toEqual([`31337:${set}:auth_0:delegation:${watched}`])
			expect(await told(bench, 'alert.transfer')).toHaveLength(1)
			expect(await told(bench, 'alert.removed')).toEqual([])
			// The queue is written with the next commit.
			await node.mine()
			await bench.settle()
			const after = await bench.store.network('local')
			expect([after?.checkpoint.number, after?.audit?.signed]).toEqual([number + 41n, []])
		},
	)

	testInFull('behavior: blocks whose transactions no endpoint gives do not pile up', async () => {
		let isRefused = true
		const refusal = new Refused({ error: { code: -32603, message: 'internal error' } })
		const refusing: Dialect['twist'] = async (method, params) => {
			if (isRefused && method === 'eth_getBlockByNumber' && params[1] === true) throw refusal
			return undefined
		}
		const { bench, node, sign, send } = await open({ twist: refusing }, { isPrivate: true })
		bench.setWatches([watchOf(watched, { kinds: ['transfer', 'delegation'] })])
		let most = 0
		for (let blocks = 0; blocks < 50; blocks++) {
			await node.send({ from: other.address.toLowerCase() as Address, to: watched, valueWei: 5n, gas: 21_000n })
			await node.mine(4)
			await bench.settle().catch(() => undefined)
			most = Math.max(most, (await bench.store.network('local'))?.audit?.signed.length ?? 0)
		}
		expect(most).toBeGreaterThan(100)
		expect(most).toBeLessThan(150)
		isRefused = false
		const set = await send([await sign(owner, first)])
		await node.mine()
		await bench.settle()
		expect((await told(bench)).map(({ id }) => id)).toEqual([`31337:${set}:auth_0:delegation:${watched}`])
	})

	testInFull(
		'behavior: an alert is retracted if its block leaves the chain before its authorisations are read',
		async () => {
			let held = Promise.resolve()
			const slow: Dialect['twist'] = async (method, params) => {
				if (method === 'eth_getBlockByNumber' && params[1] === true) await held
				return undefined
			}
			const { bench, node, block } = await open({ twist: slow }, { isPrivate: true })
			bench.setWatches([watchOf(watched, { kinds: ['transfer', 'delegation'] })])
			await block()
			const before = await node.rpc<string>('evm_snapshot')
			let release: () => void = () => undefined
			held = new Promise((resolve) => {
				release = resolve
			})
			onTestFinished(() => release())
			await node.send({ from: other.address.toLowerCase() as Address, to: watched, valueWei: 5n, gas: 21_000n })
			await node.mine()
			const end = new AbortController()
			const polling = bench.settle(end.signal).catch(() => undefined)
			await expect.poll(() => told(bench, 'alert.transfer')).toHaveLength(1)
			end.abort()
			await polling
			release()
			await node.rpc('evm_revert', [before])
			await node.rpc('evm_increaseTime', [100])
			await node.mine(3)
			await bench.settle()
			expect(await told(bench, 'alert.removed')).toHaveLength(1)
		},
	)

	testInFull('behavior: several between two polls, and what left the chain is retracted', async () => {
		const { node, bench, sign, send, block } = await open()
		await block()
		const before = await node.rpc<string>('evm_snapshot')
		const one = await send([await sign(owner, first)])
		await node.mine()
		const two = await send([await sign(owner, second)])
		await block()
		expect((await told(bench)).map(({ id }) => id)).toEqual([
			`31337:${one}:auth_0:delegation:${watched}`,
			`31337:${two}:auth_0:delegation:${watched}`,
		])
		await node.rpc('evm_revert', [before])
		await node.rpc('evm_increaseTime', [100])
		await node.mine(3)
		await bench.settle()
		expect((await told(bench, 'alert.removed')).map(({ id }) => id).sort()).toEqual(
			[`31337:${one}:auth_0:delegation:${watched}`, `31337:${two}:auth_0:delegation:${watched}`].sort(),
		)
		expect(await told(bench)).toHaveLength(2)
	})

	// With one confirmation, the look at the block that was replaced does not see the one where it is mined again.
	testInFull.each([
		{ books: false },
		{ network: { confirmations: 1 } },
		{ books: false, network: { confirmations: 1 } },
	])('behavior: mined again in another block it is no news and not retracted: %o', async (kept) => {
		const { node, bench, sign, send, block } = await open({}, kept)
		await block()
		const before = await node.rpc<string>('evm_snapshot')
		const signed = [await sign(owner, first)]
		const hash = await send(signed)
		await node.mine('network' in kept ? 2 : 1)
		await bench.settle()
		const ids = [`31337:${hash}:auth_0:delegation:${watched}`]
		expect((await told(bench)).map(({ id }) => id)).toEqual(ids)
		await node.rpc('evm_revert', [before])
		await node.rpc('evm_increaseTime', [100])
		await node.mine()
		expect(await send(signed)).toBe(hash)
		await block()
		await node.mine(20)
		await bench.settle()
		expect((await told(bench)).map(({ id }) => id)).toEqual(ids)
		expect(await told(bench, 'alert.removed')).toEqual([])
	})
})
