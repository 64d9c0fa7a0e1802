// Foreign code that a watch runs in its own storage: told in its block, by every source of frames, with and without
// books. The contracts do what their calldata says, or what the assembly below says.

import { keccak256 } from 'ox/Hash'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../../src/model/alert.js'
import type { Address, Hex } from '../../../src/model/glossary.js'
import type { Store } from '../../../src/model/ports.js'
import type { Watch } from '../../../src/model/watch.js'
import { assemble, initOf } from '../../support/assembler.js'
import { type Dialect, Refused } from '../../support/dialectGateway.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { describeOnce, divided, testInFull, testOnce } from '../../support/longRun.js'
import {
	type Action,
	create2Address,
	createAddress,
	encodeActions,
	puppetCode,
	puppetInit,
} from '../../support/puppet.js'
import { ruledCode, writing } from '../../support/ruledContract.js'
import { alertOf, type BenchOptions, openBench, watchOf } from '../bench.js'
import { lower, openCodeBench } from './codeBench.js'

const at = (name: string): Address => `0x${name.padStart(40, 'c0de')}`
/** Runs what its caller names, as the `execute` of a wallet does: 20 bytes of target, then the call. */
const wallet = at('a1')
const walletCode = assemble(`
	20 CALLDATASIZE SUB 20 0 CALLDATACOPY
	0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL @ok JUMPI
	0 0 REVERT
	ok: STOP`)
/** Writes 7 into the slot that the first word of its input names. */
const helper = at('b1')
const helperCode = assemble('7 0 CALLDATALOAD SSTORE STOP')
const other = at('b2')
const caller = at('d1')

const word = (number: number | bigint): Hex => `0x${number.toString(16).padStart(64, '0')}`
const runs = (code: Address, data: Hex = word(3)): Hex => `${code}${data.slice(2)}`
/** Hands everything on to the code that its argument puts on the stack, and returns what comes. */
const forwardsTo = (code: string) =>
	assemble(`
		CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${code} GAS DELEGATECALL
		RETURNDATASIZE 0 0 RETURNDATACOPY RETURNDATASIZE 0 RETURN`)

async function open(
	codes: Readonly<Record<Address, Hex>>,
	{ dialect, ...options }: Partial<BenchOptions> & { readonly dialect?: Dialect } = {},
	part: Partial<Watch> = {},
	watched: readonly Address[] = [wallet],
) {
	const stage = await openCodeBench({
		async prepare(node) {
			const all = { [wallet]: walletCode, [helper]: helperCode, [other]: helperCode, [caller]: puppetCode, ...codes }
			for (const one of Object.entries(all)) await node.rpc('anvil_setCode', one)
			return watched
		},
		options,
		part,
		...(dialect && { dialect }),
	})
	return { ...stage, act: (...actions: readonly Action[]) => stage.send(caller, encodeActions(actions)) }
}

const ways = [
	{ source: 'trace_filter' },
	{ source: 'trace_block' },
	{ source: 'debug_traceBlockByNumber' },
	{ source: 'trace_block', books: true },
	{ source: 'trace_filter', streams: true },
	{ source: 'debug_traceBlockByNumber', streams: true, books: true },
] as const

describe.each(divided<(typeof ways)[number]>(ways, (_, at) => at === 5))(
	'default: by $source, books: $books, streams: $streams',
	(options) => {
		test('code that the caller names is reported each time, in its block, with what it changed', async () => {
			const { node, send, told, sender } = await open({}, options)
			const first = await send(wallet, runs(helper))
			const number = Number(await node.rpc('eth_blockNumber'))
			await send(wallet, runs(helper, word(9)))
			const alerts = await told()
			expect(alerts).toHaveLength(2)
			expect({ ...alerts[0], from: lower(alerts[0]?.from), codeAddress: lower(alerts[0]?.codeAddress) }).toMatchObject({
				id: `31337:${first}:0:code:${wallet}`,
				kind: 'code',
				blockNumber: number,
				txHash: first,
				traceAddress: [0],
				callType: 'delegatecall',
				from: sender,
				codeAddress: helper,
				codeHash: keccak256(helperCode),
				codeName: null,
				chosenByCaller: true,
				ownCode: false,
				selector: word(3).slice(0, 10),
				entrySelector: helper.slice(0, 10),
				changed: [{ slot: word(3), name: null, previous: word(0), current: word(7) }],
			})
			// A second look at the same blocks finds nothing new.
			await node.mine(30)
			expect(await told()).toHaveLength(2)
		})
	},
)

const proxy = at('a2')
/** Chooses by itself, so that lasting code is told once. */
const chooses = assemble('0 0 0 0 1000 SLOAD GAS DELEGATECALL STOP')
const implementationSlot: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const codeAt = async (node: { rpc(method: string, params: unknown[]): Promise<unknown> }, address: Address) =>
	(await node.rpc('eth_getCode', [address, 'latest'])) as Hex
const inSlot = async (
	node: { rpc(method: string, params: unknown[]): Promise<unknown> },
	slot: string,
	code: Address,
) => node.rpc('anvil_setStorageAt', [proxy, slot, `0x${code.slice(2).padStart(64, '0')}`])
const brief = ({ codeAddress, chosenByCaller, traceAddress }: AlertData) =>
	`${lower(codeAddress)?.slice(-2)} ${traceAddress.join('_')} ${chosenByCaller === true ? 'each' : 'once'}`

describeOnce('default: ordinary code is quiet', () => {
	const clone: Hex = `0x363d3d373d3d3d363d73${other.slice(2)}5af43d82803e903d91602b57fd5bf3`
	test.each([
		['a linked library, named by its caller as well', forwardsTo(other)],
		['the target of a clone (EIP-1167)', clone],
	])('%s', async (_, code) => {
		const { send, told, act } = await open({ [proxy]: code }, {}, {}, [proxy])
		await send(proxy, word(3))
		await send(proxy, runs(other))
		await act({ do: 'call', to: proxy, data: word(5) })
		expect(await told()).toEqual([])
	})

	test('a multicall of the watch to itself', async () => {
		const { send, told } = await open({ [proxy]: puppetCode }, {}, {}, [proxy])
		await send(
			proxy,
			encodeActions([{ do: 'delegatecall', to: proxy, inner: [{ do: 'call', to: other, data: word(1) }] }]),
		)
		expect(await told()).toEqual([])
	})

	test('calls under a staticcall, undone ones, and those to addresses without code', async () => {
		const { send, told, act } = await open({ [proxy]: puppetCode }, {}, {}, [wallet, proxy])
		await act(
			{ do: 'staticcall', to: wallet, data: runs(caller, '0x') },
			{ do: 'call', to: proxy, inner: [{ do: 'delegatecall', to: other, data: word(1) }, { do: 'revert' }] },
			{ do: 'call', to: wallet, data: runs(at('ee')) },
			{ do: 'call', to: wallet, data: runs(`0x${'4'.padStart(40, '0')}`) },
		)
		await send(wallet, runs(`0x${'2'.padStart(40, '0')}`))
		expect(await told()).toEqual([])
	})

	test('the transaction that creates the watch', async () => {
		const { send, told, sender, node, bench } = await open({})
		const nonce = BigInt(await node.rpc<string>('eth_getTransactionCount', [caller, 'latest']))
		const made = createAddress(caller, nonce)
		bench.setWatches([watchOf(made, { kinds: ['code'], fromBlock: 1n })])
		const init: Hex =
			`${assemble(`7 0 MSTORE 0 0 32 0 ${helper} GAS DELEGATECALL`)}${initOf(walletCode).slice(2)}` as Hex
		await send(
			caller,
			encodeActions([
				{ do: 'create', init },
				{ do: 'call', to: made, data: runs(helper) },
			]),
		)
		expect(sender).not.toBe(made)
		expect(await told()).toEqual([])
	})

	test('allowed_code', async () => {
		const { send, told } = await open({}, {}, { allowedCode: [helper] })
		await send(wallet, runs(helper))
		await send(wallet, runs(other))
		expect((await told()).map(brief)).toEqual(['b2 0 each'])
	})
})

testOnce('default: a proxy with an unknown slot: its first code is learnt, a second is reported once', async () => {
	const { node, send, told } = await open({ [proxy]: forwardsTo('1000 SLOAD') }, {}, {}, [proxy])
	await inSlot(node, word(1000), helper)
	await send(proxy, word(3))
	await send(proxy, word(4))
	expect(await told()).toEqual([])
	await inSlot(node, word(1000), other)
	await send(proxy, word(3))
	await send(proxy, word(4))
	expect((await told()).map(brief)).toEqual(['b2 0 once'])
	await inSlot(node, word(1000), helper)
	await send(proxy, word(3))
	expect(await told()).toHaveLength(1)
})

testOnce(
	'default: code that the contract chooses is reported once for its caller, also what it runs in turn',
	async () => {
		const inner = at('b3')
		const codes = {
			[proxy]: assemble(`0 0 0 0 1000 SLOAD GAS DELEGATECALL STOP`),
			[inner]: assemble(`0 0 0 0 1001 SLOAD GAS DELEGATECALL STOP`),
		}
		const { node, send, told } = await open(codes, {}, {}, [proxy])
		await inSlot(node, word(1000), inner)
		await inSlot(node, word(1001), helper)
		for (let times = 0; times < 3; times++) await send(proxy, '0x12345678')
		expect((await told()).map(brief)).toEqual(['b3 0 once', 'b1 0_0 once'])
		// The same address with other code is another pair.
		await node.rpc('anvil_setCode', [helper, assemble('8 1 SSTORE STOP')])
		await send(proxy, '0x12345678')
		expect((await told()).map(brief)).toEqual(['b3 0 once', 'b1 0_0 once', 'b1 0_0 once'])
	},
)

testInFull('behavior: of one code 20 alerts are sent in 24 h, then one a day with the count', async () => {
	const { node, send, told } = await open({})
	for (let times = 0; times < 25; times++) await send(wallet, runs(helper))
	expect(await told()).toHaveLength(20)
	await node.rpc('evm_increaseTime', [25 * 3_600])
	await send(wallet, runs(helper))
	await send(wallet, runs(helper))
	const alerts = await told()
	expect(alerts).toHaveLength(21)
	expect(alerts.map(({ count }) => count)).toEqual([...Array<undefined>(20).fill(undefined), 6])
})

testInFull(
	'behavior: code learnt in a block that leaves the chain is forgotten, and its alert is retracted',
	async () => {
		const { node, send, told, bench } = await open(
			{ [proxy]: assemble('0 0 0 0 1000 SLOAD GAS DELEGATECALL STOP') },
			{},
			{},
			[proxy],
		)
		await inSlot(node, word(1000), helper)
		await node.mine()
		await bench.settle()
		const before = await node.rpc<string>('evm_snapshot')
		await send(proxy, '0x12345678')
		expect(await told()).toHaveLength(1)
		await node.rpc('evm_revert', [before])
		await node.rpc('evm_increaseTime', [100])
		await node.mine(3)
		await bench.settle()
		const types = async () => (await bench.posted()).map(({ message }) => message.type)
		expect(await types()).toEqual(['alert.code', 'alert.removed'])
		await send(proxy, '0x1234567890')
		await told()
		expect(await types()).toEqual(['alert.code', 'alert.removed', 'alert.code'])
	},
)

/** Answers `facetAddresses()` with three facets; forwards everything else to the one that the first byte chooses. */
const facets = [at('f1'), at('f2'), at('f3')] as const
const diamondCode = assemble(`
	0 CALLDATALOAD 224 SHR 0x52ef6b2c EQ @list JUMPI
	CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 0 CALLDATALOAD 248 SHR SLOAD GAS DELEGATECALL STOP
	list: 32 0 MSTORE 4 SLOAD ISZERO ISZERO 3 ADD DUP1 32 MSTORE
	1 SLOAD 64 MSTORE 2 SLOAD 96 MSTORE 3 SLOAD 128 MSTORE 4 SLOAD 160 MSTORE 32 MUL 64 ADD 0 RETURN`)
/** Makes a fourth facet of the one in its second word, and logs it. */
const diamondCut = '0x8faa70878671ccd212d20771b795c50af8fd3ff6cf27f4bde57e5d4de0aeb673'
const cutCode = assemble(`32 CALLDATALOAD 4 SSTORE ${diamondCut} 192 0 LOG1 STOP`)
const byFacet = (byte: string, argument: Hex = word(0)): Hex => `0x${byte}${'0'.repeat(62)}${argument.slice(2)}`

testOnce('default: the first facets of a diamond are not reported; one that is added is reported once', async () => {
	const codes = { [proxy]: diamondCode, ...Object.fromEntries(facets.map((one) => [one, helperCode])) }
	const { node, send, told } = await open(codes, {}, {}, [proxy])
	for (const [index, one] of facets.entries()) await inSlot(node, word(index + 1), one)
	await node.mine()
	for (const byte of ['01', '02', '03', '01']) await send(proxy, byFacet(byte))
	expect(await told()).toEqual([])
	await inSlot(node, word(4), helper)
	for (const byte of ['04', '04']) await send(proxy, byFacet(byte))
	expect((await told()).map(brief)).toEqual(['b1 0 once'])
})

testInFull(
	'default: facets of a diamond behind a proxy are not reported; one that comes in silence is, once',
	async () => {
		const [diamond] = [at('f9')]
		const codes = {
			[proxy]: forwardsTo(`${implementationSlot} SLOAD`),
			[diamond]: diamondCode,
			...Object.fromEntries(facets.map((one) => [one, helperCode])),
		}
		const { node, send, told } = await open(codes, {}, {}, [proxy])
		await inSlot(node, implementationSlot, diamond)
		for (const [index, one] of facets.entries()) await inSlot(node, word(index + 1), one)
		await node.mine()
		for (const byte of ['01', '02', '03', '01']) await send(proxy, byFacet(byte))
		expect(await told()).toEqual([])
		await inSlot(node, word(4), helper)
		for (const byte of ['04', '04']) await send(proxy, byFacet(byte))
		expect((await told()).map(brief)).toEqual(['b1 0_0 once'])
	},
)

testInFull('default: a facet is not reported after an alert on `DiamondCut`', async () => {
	const codes = { [proxy]: diamondCode, [facets[0]]: cutCode, [facets[1]]: helperCode, [facets[2]]: helperCode }
	const { node, send, told } = await open(codes, {}, { kinds: ['code', 'control'] }, [proxy])
	for (const [index, one] of facets.entries()) await inSlot(node, word(index + 1), one)
	await node.mine()
	await send(proxy, byFacet('02'))
	await send(proxy, byFacet('01', word(BigInt(helper))))
	await send(proxy, byFacet('04'))
	expect((await told()).map(({ kind, change }) => [kind, change])).toEqual([['control', 'facets']])
	// An hour later the alert is not looked for any more.
	await node.mine(300)
	await told()
	await send(proxy, byFacet('04'))
	expect(await told()).toHaveLength(1)
})

describe('default: code is reported although it is, or becomes, what is ordinary elsewhere', () => {
	testOnce('foreign code that puts itself where the implementation stands, on a watch without `control`', async () => {
		const { send, told } = await open({ [helper]: ruledCode })
		await send(wallet, runs(helper, writing([implementationSlot, helper])))
		expect((await told()).map(brief)).toEqual(['b1 0 each'])
	})

	testInFull('learnt code that a caller names later', async () => {
		/** Runs what its caller names; of four bytes, the code in slot 1000. */
		const both = assemble(`
			4 CALLDATASIZE GT @named JUMPI 0 0 0 0 1000 SLOAD GAS DELEGATECALL STOP
			named: 20 CALLDATASIZE SUB 20 0 CALLDATACOPY
			0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL STOP`)
		const { node, send, told } = await open({ [proxy]: both }, {}, {}, [proxy])
		await inSlot(node, word(1000), helper)
		for (let times = 0; times < 2; times++) await send(proxy, '0x12345678')
		expect((await told()).map(brief)).toEqual(['b1 0 once'])
		await send(proxy, runs(helper))
		await send(proxy, runs(helper, word(9)))
		expect((await told()).map(brief)).toEqual(['b1 0 once', 'b1 0 each', 'b1 0 each'])
	})

	testInFull('code that changes a slot and sets it back within the transaction, with nothing changed', async () => {
		const { send, told } = await open({ [helper]: ruledCode })
		await send(wallet, runs(helper, writing([3n, 7n], [3n, 0n])))
		expect((await told()).map(({ changed }) => changed)).toEqual([[]])
	})

	testOnce('an account with a delegation (EIP-7702), before and after it delegates anew', async () => {
		const account = at('e7')
		const delegatedTo = (code: Address): Hex => `0xef0100${code.slice(2)}`
		const { node, send, told } = await open({ [proxy]: chooses, [account]: delegatedTo(helper) }, {}, {}, [proxy])
		await inSlot(node, word(1000), account)
		for (let times = 0; times < 2; times++) await send(proxy, '0x12345678')
		// What is set changes the state of the newest block.
		await node.mine()
		await node.rpc('anvil_setCode', [account, delegatedTo(other)])
		await send(proxy, '0x12345678')
		const alerts = await told()
		expect(alerts.map(brief)).toEqual(['e7 0 once', 'e7 0 once', 'e7 0 once'])
		const [before, after] = [keccak256(delegatedTo(helper)), keccak256(delegatedTo(other))]
		expect(alerts.map(({ codeHash }) => codeHash)).toEqual([before, before, after])
	})

	testInFull('a target that ends in the transaction that made it, and one that comes back in the block', async () => {
		const { node, told, sender } = await open({ [proxy]: chooses }, {}, {}, [proxy])
		const made = create2Address(caller, 5n, puppetInit)
		await inSlot(node, word(1000), made)
		const makes = { do: 'create2', init: puppetInit, salt: 5n } as const
		const isRun = { do: 'call', to: proxy, data: '0x12345678' } as const
		const ends = { do: 'call', to: made, inner: [{ do: 'selfdestruct', heir: other }] } as const
		const data = (...actions: readonly Action[]) => encodeActions(actions)
		const act = (what: Hex) => node.send({ from: sender, to: caller, data: what, gas: 8_000_000n })
		await act(data(makes, isRun, ends))
		await act(data(makes, isRun, ends))
		expect((await told()).map(({ codeHash }) => codeHash)).toEqual([null, null])
		await node.automine(false)
		await act(data(makes, isRun, ends))
		await act(data(makes, isRun))
		expect((await told()).map(({ codeHash }) => codeHash)).toEqual([
			null,
			null,
			...Array(2).fill(keccak256(puppetCode)),
		])
	})
})

testOnce('default: a proxy with its implementation in a known slot: an upgrade is reported as one', async () => {
	const { node, send, told, bench } = await open({ [proxy]: forwardsTo(`${implementationSlot} SLOAD`) }, {}, {}, [
		proxy,
	])
	await inSlot(node, implementationSlot, helper)
	for (let times = 0; times < 3; times++) await send(proxy, word(3))
	expect(await told()).toEqual([])
	expect((await bench.store.network('local'))?.contracts.get(proxy)?.codeHash).toBe(
		keccak256(await codeAt(node, proxy)),
	)
})

testInFull('behavior: after a standstill, a node that has no state of the block gives the code of today', async () => {
	let head = 0
	const dialect: Dialect = {
		twist(method, [, at]) {
			const isOld = typeof at === 'string' && Number(at) < head - 128
			if (method === 'eth_getCode' && isOld)
				throw new Refused({ error: { code: -32000, message: 'missing trie node' } })
		},
	}
	const { node, send, told } = await open({ [proxy]: chooses }, { dialect }, {}, [wallet, proxy])
	await inSlot(node, word(1000), helper)
	await send(wallet, runs(helper))
	await send(wallet, runs(at('ee')))
	await send(proxy, '0x12345678')
	head = Number(await node.mine(200))
	const alerts = await told()
	// Whether an address without code had some is not known.
	const own = keccak256(helperCode)
	const expected = [`b1 0 each ${own}`, 'ee 0 each null', `b1 0 once ${own}`]
	expect(alerts.map((one) => `${brief(one)} ${one.codeHash}`).sort()).toEqual(expected.sort())
	await send(proxy, '0x12345678')
	expect(await told()).toHaveLength(3)
})

testInFull('behavior: a kill between the scanner and the auditor loses nothing and repeats nothing', async () => {
	const folder = temporaryFolder()
	let isDying = false
	const openStore = (clock: () => number) => openFileStore(folder, { clock })
	/** After the scanner's commit of a new checkpoint, every write fails. */
	const around = (store: Store): Store => ({
		...store,
		async commit(change) {
			if (isDying && change.checkpoint === undefined) throw new Error('killed')
			return await store.commit(change)
		},
	})
	const { node, send, bench, options } = await open({}, { openStore, around })
	const txHash = await send(wallet, runs(helper))
	await node.mine(3)
	isDying = true
	await expect(bench.settle()).rejects.toThrow('killed')
	expect(await bench.posted()).toEqual([])
	await bench.close()
	const again = await openBench({ ...options, around: (store) => store })
	onTestFinished(() => again.close())
	await again.settle()
	await node.mine()
	await again.settle()
	expect((await again.posted()).map(alertOf).map(({ id }) => id)).toEqual([`31337:${txHash}:0:code:${wallet}`])
})

testInFull('behavior: a target that destroys itself in its first transaction is reported each time', async () => {
	const { send, told, node } = await open({ [proxy]: puppetCode }, {}, {}, [proxy])
	const nonce = BigInt(await node.rpc<string>('eth_getTransactionCount', [proxy, 'latest']))
	const [first, second] = [createAddress(proxy, nonce), createAddress(proxy, nonce + 1n)]
	for (const made of [first, second]) {
		await send(
			proxy,
			encodeActions([
				{ do: 'create', init: initOf(puppetCode) },
				{ do: 'delegatecall', to: made, data: encodeActions([{ do: 'call', to: other, data: word(1) }]) },
				{ do: 'call', to: made, inner: [{ do: 'selfdestruct', heir: other }] },
			]),
		)
	}
	const alerts = await told()
	expect(alerts.map(({ codeAddress, codeHash }) => [lower(codeAddress), codeHash])).toEqual([
		[first, null],
		[second, null],
	])
})
