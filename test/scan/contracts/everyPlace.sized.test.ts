// Each place that rules a contract changes once with its event and once without: told once, in its block, with old and
// new value, by each source of frames, with and without books. Slots and events are those that the standards name.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { sized } from '../../support/longRun.js'
import { linked, mapped, safeStorage, slotOf, word } from '../../support/ruledContract.js'
import { type Event, type Pair, scribeCode, scribing } from '../../support/scribe.js'
import { alertOf, type BenchOptions, openBench, watchOf } from '../bench.js'

const at = (n: number): Address => `0x${(0xc0de000000 + n).toString(16).padStart(40, '0')}`
const someone = (digit: string): Address => `0x${digit.repeat(40)}`
const [a, b, c] = [someone('a'), someone('b'), someone('c')]
const padded = (address: Address): Hex => `0x01${address.slice(2).padStart(62, '0')}`

/** What is told: change, action, previous, current, member in the id. */
type Said = readonly [change: string, action: string, previous: string | null, current: string | null, member?: string]

interface Row {
	readonly name: string
	readonly before: readonly Pair[]
	readonly writes: readonly Pair[]
	readonly event?: Event
	readonly said: Said
	/** Where an event says it in other words than storage. */
	readonly inEvent?: Said
}

/** A slot that holds an address, and the event with which its standard announces a new one. */
function held(name: string, change: string, slot: Hex, event?: Event): Row {
	return { name, before: [[slot, a]], writes: [[slot, b]], said: [change, 'set', a, b], ...(event && { event }) }
}

const owned = { event: 'OwnershipTransferred(address,address)', topics: [a, b] }
const upgraded = { event: 'Upgraded(address)', topics: [b] }
const safe = safeStorage([a, c], { threshold: 2n, modules: [c], singleton: a })
const coinbase = '0x97e2c6aad4ce5d562ebfaa00db6b9e0fb66ea5d8162ed5b243f51a2e03086f0'

const rows: readonly Row[] = [
	held('EIP-1967', 'implementation', '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc', upgraded),
	held('ZeppelinOS', 'implementation', '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3', {
		event: 'Upgraded(address)',
		data: [b],
	}),
	held('EIP-1822', 'implementation', '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7', upgraded),
	held('Polygon', 'implementation', '0xbaab7dbf64751104133af04abc7d9979f0fda3b059a322a8333f533d3f32bf7f'),
	held('EIP-1967 admin', 'admin', '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103', {
		event: 'AdminChanged(address,address)',
		data: [a, b],
	}),
	held('ZeppelinOS admin', 'admin', '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b', {
		event: 'AdminChanged(address,address)',
		data: [a, b],
	}),
	held('EIP-1967 beacon', 'beacon', '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50', {
		event: 'BeaconUpgraded(address)',
		topics: [b],
	}),
	held('Ownable', 'owner', '0x9016d09d72d40fdae2fd8ceac6b6234c7706214fd39c1cd1e609a0528c199300', owned),
	held('Solady', 'owner', '0xffffffffffffffffffffffffffffffffffffffffffffffffffffffff74873927', owned),
	held('Polygon owner', 'owner', '0x44f6e2e8884cba1236b7f22f351fa5d88b17292b7e0225ca47e5ecdf6055cdd6'),
	held('diamond', 'owner', '0xc8fcad8db84d3cc18b4c41d551ea0ee66dd599cde068d998e57d5e09332c1320', owned),
	{
		// From none: as when a handover begins.
		...held('Ownable2Step', 'pendingOwner', '0x237e158222e3e6968b72b9db0d8043aacf074ad9f650f0d1606b4d82ee432c00', {
			event: 'OwnershipTransferStarted(address,address)',
			topics: [c, b],
		}),
		before: [],
		said: ['pendingOwner', 'set', null, b],
	},
	{
		// Packed with a flag.
		...held('AccessManaged', 'authority', '0xf3177357ab46d8af007ab3fdb9af81da189e1068fefdc0073dca88a2cab40a00', {
			event: 'AuthorityUpdated(address)',
			data: [b],
		}),
		before: [['0xf3177357ab46d8af007ab3fdb9af81da189e1068fefdc0073dca88a2cab40a00', padded(a)]],
	},
	{
		name: 'Pausable',
		before: [],
		writes: [['0xcd5ed15c6e187e77e9aee88184c21f4f2182ab5827cb3b7e07fbedcd63f03300', 1n]],
		event: { event: 'Paused(address)', data: [c] },
		said: ['paused', 'set', '0', '1'],
	},
	{
		name: 'Pausable, off',
		before: [['0xcd5ed15c6e187e77e9aee88184c21f4f2182ab5827cb3b7e07fbedcd63f03300', 1n]],
		writes: [['0xcd5ed15c6e187e77e9aee88184c21f4f2182ab5827cb3b7e07fbedcd63f03300', 0n]],
		event: { event: 'Unpaused(address)', data: [c] },
		said: ['paused', 'set', '1', '0'],
	},
	{
		name: 'Initializable',
		before: [['0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00', 1n]],
		writes: [['0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00', 2n]],
		event: { event: 'Initialized(uint64)', data: [2n] },
		said: ['initialized', 'set', '1', '2'],
	},
	held('guard', 'safe.guard', '0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8', {
		event: 'ChangedGuard(address)',
		topics: [b],
	}),
	held('handler', 'safe.fallbackHandler', '0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5', {
		event: 'ChangedFallbackHandler(address)',
		topics: [b],
	}),
	held('module guard', 'safe.moduleGuard', '0xb104e0b93118902c651344349b610029d694cfdec91c589c91ebafbcd0289947', {
		event: 'ChangedModuleGuard(address)',
		topics: [b],
	}),
	{
		name: 'Safe, singleton',
		before: safe,
		writes: [[0n, b]],
		event: { event: 'ChangedMasterCopy(address)', data: [b] },
		said: ['safe.singleton', 'set', a, b],
	},
	{
		name: 'Safe, threshold',
		before: safe,
		writes: [[4n, 1n]],
		event: { event: 'ChangedThreshold(uint256)', data: [1n] },
		said: ['safe.threshold', 'set', '2', '1'],
	},
	{
		name: 'Safe, owner added',
		before: safe,
		writes: [...linked([b, a, c], 2n), [3n, 3n]],
		event: { event: 'AddedOwner(address)', topics: [b] },
		said: ['safe.owner', 'added', null, b, b],
	},
	{
		name: 'Safe, owner removed',
		before: safeStorage([a, b], { singleton: a }),
		writes: [...linked([a], 2n), [mapped(b, 2n), 0n], [3n, 1n]],
		event: { event: 'RemovedOwner(address)', data: [b] },
		said: ['safe.owner', 'removed', b, null, b],
	},
	{
		name: 'Safe, module enabled',
		before: safe,
		writes: linked([b, c], 1n),
		event: { event: 'EnabledModule(address)', topics: [b] },
		said: ['safe.module', 'added', null, b, b],
	},
	{
		name: 'Safe, module disabled',
		before: safe,
		writes: [
			[mapped(1n, 1n), 1n],
			[mapped(c, 1n), 0n],
		],
		event: { event: 'DisabledModule(address)', data: [c] },
		said: ['safe.module', 'removed', c, null, c],
	},
	{
		name: 'Coinbase, owner added',
		before: [[`${coinbase}0`, 1n]],
		writes: [[`${coinbase}0`, 2n]],
		event: { event: 'AddOwner(uint256,bytes)', topics: [1n], data: [32n, 32n, b] },
		said: ['value', 'set', '1', '2', 'owner-index'],
		inEvent: ['owner', 'added', null, b],
	},
	{
		name: 'Coinbase, owner removed',
		before: [[`${coinbase}0`, 2n]],
		writes: [[`${coinbase}1`, 1n]],
		event: { event: 'RemoveOwner(uint256,bytes)', topics: [1n], data: [32n, 32n, b] },
		said: ['value', 'set', null, '1', 'owner-removed'],
		inEvent: ['owner', 'removed', b, null],
	},
	...(
		[
			['owner()', 'owner', { event: 'LogSetOwner(address)', topics: [b] }],
			['pendingOwner()', 'pendingOwner', { event: 'CommitOwnership(address)', topics: [b] }],
			['admin()', 'admin', { event: 'NewAdmin(address)', topics: [b] }],
			['authority()', 'authority', { event: 'LogSetAuthority(address)', topics: [b] }],
			['implementation()', 'implementation', { event: 'NewImplementation(address,address)', data: [a, b] }],
			['defaultAdmin()', 'admin'],
		] as const
	).map(([getter, change, event]) => ({ ...held(getter, change, slotOf(getter), event) })),
	{
		name: 'paused()',
		before: [],
		writes: [[slotOf('paused()'), 1n]],
		event: { event: 'Pause()' },
		said: ['paused', 'set', '0', '1'],
	},
	{
		name: 'getMinDelay()',
		before: [[slotOf('getMinDelay()'), 172_800n]],
		writes: [[slotOf('getMinDelay()'), 60n]],
		event: { event: 'MinDelayChange(uint256,uint256)', data: [172_800n, 60n] },
		said: ['timelock', 'set', '172800', '60'],
	},
]

/** A slot whose value a function answers, too, as in OpenZeppelin's contracts: one change. */
function answered(name: string, getter: string): Row {
	const row = rows.find((one) => one.name === name) as Row
	const also = (pairs: readonly Pair[]): readonly Pair[] => [
		...pairs,
		...pairs.map(([, value]) => [slotOf(getter), BigInt(value) & ((1n << 160n) - 1n)] as const),
	]
	return { ...row, name: `${name}, ${getter}`, before: also(row.before), writes: also(row.writes) }
}

const answering: readonly Row[] = [
	answered('Ownable', 'owner()'),
	answered('diamond', 'owner()'),
	answered('Ownable2Step', 'pendingOwner()'),
	answered('AccessManaged', 'authority()'),
	answered('Pausable', 'paused()'),
	answered('Pausable, off', 'paused()'),
	answered('EIP-1967', 'implementation()'),
	answered('EIP-1967 admin', 'admin()'),
]

/** So many on one chain that they are read within the time of a poll on a busy machine, too. */
const most = 20

/** Each row twice: a contract that logs nothing, and one that logs the event. */
function partsOf(tried: readonly Row[]) {
	const all = tried.flatMap((row) =>
		(row.event === undefined ? [null] : [null, row.event]).map((event) => ({ row, event })),
	)
	return Array.from({ length: Math.ceil(all.length / most) }, (_, part) => ({
		part: part + 1,
		cases: all.slice(part * most, (part + 1) * most),
	}))
}

const every = [...rows, ...answering]

interface Way {
	readonly name: string
	readonly options: Partial<BenchOptions>
	readonly overrides?: 'refused'
	readonly tried: readonly Row[]
}

/** Each source, with books and without, and a node that runs no code of ours: every row in one, a fourth in each. */
const ways: readonly Way[] = [
	{
		name: 'trace_block',
		options: { source: 'trace_block', books: true },
		tried: every.filter((_, n) => n % sized(8, 1) === 0),
	},
	{
		name: 'trace_filter',
		options: { source: 'trace_filter', books: true },
		tried: every.filter((_, n) => n % 4 === 1),
	},
	{
		name: 'the tracer, without books',
		options: { source: 'debug_traceBlockByNumber', books: false },
		tried: every.filter((_, n) => n % 4 === 2),
	},
	{ name: 'no overrides', options: {}, overrides: 'refused', tried: every.filter((_, n) => n % 4 === 3) },
]

describe.each(sized(ways.slice(0, 1), ways))('$name', ({ overrides, options, tried }) => {
	test.each(partsOf(tried))('default: each place, with and without its event; part $part', async ({ cases }) => {
		const anvil = await startTestAnvil()
		onTestFinished(() => anvil.stop())
		const gateway = await startDialectGateway(anvil.url, {
			twist: (method, params) =>
				overrides === 'refused' && method === 'eth_call' && params.length > 2
					? { error: 'no overrides here' }
					: undefined,
		})
		onTestFinished(() => gateway.close())
		await anvil.automine(false)
		const [payer] = (await anvil.accounts()) as [Address]
		for (const [n, { row }] of cases.entries()) {
			await anvil.rpc('anvil_setCode', [at(n), scribeCode])
			for (const [slot, value] of row.before) await anvil.rpc('anvil_setStorageAt', [at(n), word(slot), word(value)])
		}
		await anvil.mine(1)
		const watches = cases.map((_, n) => watchOf(at(n), { kinds: ['control', 'unexplained'] }))
		const bench = await openBench({ urls: [gateway.url], watches, network: { settle: 3 }, ...options })
		onTestFinished(() => bench.close())
		/** On a slow machine a reading is cut off, and asked again 30 s later for half as many contracts. */
		const settleUntil = async (isDone: () => Promise<boolean>) => {
			for (let poll = 0; poll < 20; poll++) {
				await bench.settle()
				if (await isDone()) return
				bench.pass(30_000)
			}
		}
		await settleUntil(async () => (await bench.store.network('local'))?.contracts.size === cases.length)

		const hashes: string[] = []
		for (const [n, { row, event }] of cases.entries())
			hashes.push(await anvil.send({ from: payer, to: at(n), data: scribing(row.writes, event), gas: 400_000n }))
		await anvil.mine(1)
		const block = Number(await anvil.head())
		await settleUntil(async () => (await bench.posted()).length >= cases.length)

		const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value)
		const told = async () =>
			(await bench.posted()).map((delivery) => {
				const { id, change, action, previous, current, evidence, txHash, blockNumber, watch, ...data } =
					alertOf(delivery)
				const contract = lower(data.contract)
				const said = [change, action, lower(previous), lower(current)]
				return {
					id,
					type: delivery.message.type,
					said,
					evidence,
					txHash,
					blockNumber,
					watch: lower(watch.address),
					contract,
				}
			})
		const expected = cases.map(({ row, event }, n) => {
			const [change, action, previous, current, member] = (event && row.inEvent) ?? row.said
			const name = change.replace('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
			const anchor = event === null ? block : hashes[n]
			const place = event === null ? ['slot', name, ...(member === undefined ? [] : [member])].join('_') : 'log_0'
			const id = `31337:${anchor}:${place}:control:${at(n)}`
			const evidence = event === null ? 'storage' : 'event'
			const said = [change, action, previous, current]
			const facts = { type: 'alert.control', evidence, txHash: hashes[n], blockNumber: block }
			return { ...facts, id, said, watch: at(n), contract: at(n) }
		})
		const sorted = <T extends { readonly watch: unknown }>(found: readonly T[]) =>
			found.toSorted((one, other) => (String(one.watch) < String(other.watch) ? -1 : 1))
		expect(sorted(await told())).toEqual(expected)
		// Storage confirms each event; second looks and the rotation tell nothing again.
		const announced = async () => [...((await bench.store.network('local'))?.announcements.values() ?? [])]
		const evidence = (await announced()).map(({ alerts }) => alerts[0]?.data.evidence).toSorted()
		expect(evidence).toEqual(cases.map(({ event }) => (event === null ? 'storage' : 'both')).toSorted())
		for (let look = 0; look < 5; look++) {
			bench.pass(300_000)
			await anvil.mine(1)
			await bench.settle()
		}
		expect(await told()).toHaveLength(cases.length)
	})
})
