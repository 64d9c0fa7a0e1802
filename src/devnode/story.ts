/**
 * The transactions of the demo, and the alerts that each must cause. `watchlists/demo.yaml` watches the same addresses.
 */
import type { Address, Hex } from '../model/glossary.js'
import type { Kind } from '../model/kind.js'
import type { Direction } from '../model/watch.js'
import { type Action, encodeActions } from './actions.js'
import { create2Address, createAddress, puppetInit } from './demoContracts.js'

/**
 * Anvil's well-known accounts, which are the same on each fresh chain, and the contract addresses derived from them.
 */
const deployer: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const factory = createAddress(deployer, 0n)
const saltOfPocket = 7n
export const cast = {
	deployer,
	treasury: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
	payroll: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
	customer: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
	/** A watched contract. */
	factory,
	/** Two contracts that are not watched. */
	router: createAddress(deployer, 1n),
	splitter: createAddress(deployer, 2n),
	/** The factory's first contract, by CREATE: a contract's nonce starts at 1. */
	vault: createAddress(factory, 1n),
	/** The factory's contract by CREATE2. */
	pocket: create2Address(factory, saltOfPocket, puppetInit),
} as const satisfies Record<string, Address>

export interface StoryTx {
	readonly from: Address
	/** Null: deploys a contract. */
	readonly to: Address | null
	readonly valueWei: bigint
	readonly data: Hex
	/** Whether the transaction must succeed. */
	readonly succeeds: boolean
}

export interface ExpectedAlert {
	/** The watched address. */
	readonly address: Address
	readonly kind: Kind
	readonly direction: Direction
	readonly from: Address
	readonly to: Address
	readonly valueWei: bigint
	readonly receivers: readonly string[]
}

export interface Step {
	readonly name: string
	/** Describes the step in one sentence. */
	readonly sentence: string
	/** Each transaction is mined before the next one is sent. */
	readonly transactions: readonly StoryTx[]
	readonly alerts: readonly ExpectedAlert[]
	/** Events that a naive watcher would report by mistake; the demo prints "rightly not reported: …". */
	readonly unreported: readonly string[]
}

const both = ['demo-mail', 'demo-hook']
const milli = 10n ** 15n

function tx(from: Address, to: Address | null, valueWei: bigint, data: Hex = '0x'): StoryTx {
	return { from, to, valueWei, data, succeeds: true }
}

function act(from: Address, puppet: Address, valueWei: bigint, actions: readonly Action[]): StoryTx {
	return tx(from, puppet, valueWei, encodeActions(actions))
}

type Facts = Omit<ExpectedAlert, 'address' | 'direction' | 'receivers'>

/** The contract ran code that its caller chose. */
function foreignCode(from: Address, address: Address): ExpectedAlert {
	return { address, kind: 'code', direction: 'self', from, to: address, valueWei: 0n, receivers: both }
}

function alertOf(direction: 'in' | 'out', facts: Facts, receivers: readonly string[] = both): ExpectedAlert {
	return { ...facts, address: direction === 'in' ? facts.to : facts.from, direction, receivers }
}

function transfer(from: Address, to: Address, valueWei: bigint): Facts {
	return { kind: 'transfer', from, to, valueWei }
}

function deployment(from: Address, to: Address, valueWei: bigint): Facts {
	return { kind: 'deployment', from, to, valueWei }
}

const { treasury, payroll, customer, router, splitter, vault, pocket } = cast

export const story: readonly Step[] = [
	{
		name: 'stage',
		sentence: 'The deployer deploys three contracts, one of them the watched Factory, and gives the Factory 5 ETH.',
		transactions: [
			tx(deployer, null, 0n, puppetInit),
			tx(deployer, null, 0n, puppetInit),
			tx(deployer, null, 0n, puppetInit),
			tx(deployer, factory, 5000n * milli),
		],
		alerts: [
			alertOf('in', deployment(deployer, factory, 0n)),
			alertOf('in', transfer(deployer, factory, 5000n * milli)),
		],
		unreported: ['the two other deployments: neither those addresses nor the deployer are watched'],
	},
	{
		name: 'payment in',
		sentence: 'A customer pays 1.5 ETH to Treasury.',
		transactions: [tx(customer, treasury, 1500n * milli)],
		alerts: [alertOf('in', transfer(customer, treasury, 1500n * milli))],
		unreported: [],
	},
	{
		name: 'payment out',
		sentence: 'Treasury pays 0.25 ETH to Payroll.',
		transactions: [tx(treasury, payroll, 250n * milli)],
		alerts: [alertOf('out', transfer(treasury, payroll, 250n * milli))],
		unreported: ['the same payment to the watch on Payroll: its min_value is 0.5'],
	},
	{
		name: 'three calls deep',
		sentence: 'The customer sends 0.75 ETH into a contract; three calls further down it reaches Treasury.',
		transactions: [
			act(customer, router, 750n * milli, [
				{
					do: 'call',
					to: splitter,
					valueWei: 750n * milli,
					inner: [
						{
							do: 'call',
							to: router,
							valueWei: 750n * milli,
							inner: [{ do: 'call', to: treasury, valueWei: 750n * milli, bubble: true }],
							bubble: true,
						},
					],
					bubble: true,
				},
			]),
		],
		alerts: [alertOf('in', transfer(router, treasury, 750n * milli))],
		unreported: ['the three calls on the way: no watched address pays or is paid in them'],
	},
	{
		name: 'CREATE',
		sentence: 'The Factory deploys a contract with CREATE and endows it with 0.1 ETH.',
		transactions: [
			act(deployer, factory, 0n, [{ do: 'create', init: puppetInit, valueWei: 100n * milli, bubble: true }]),
		],
		alerts: [
			alertOf('out', deployment(factory, vault, 100n * milli)),
			alertOf('in', deployment(factory, vault, 100n * milli)),
		],
		unreported: ['the endowment as transfers besides: the deployments carry it'],
	},
	{
		name: 'CREATE2',
		sentence: 'The Factory deploys with CREATE2, with 0.2 ETH, at an address that was watched before it existed.',
		transactions: [
			act(deployer, factory, 0n, [
				{ do: 'create2', init: puppetInit, salt: saltOfPocket, valueWei: 200n * milli, bubble: true },
			]),
		],
		alerts: [
			alertOf('out', deployment(factory, pocket, 200n * milli)),
			alertOf('in', deployment(factory, pocket, 200n * milli), ['demo-hook']),
		],
		unreported: ['the deployment of that contract by mail: its watch names the webhook only'],
	},
	{
		name: 'delegatecall',
		sentence: 'The customer pays the Factory 0.4 ETH, and the Factory hands the call on by delegatecall.',
		transactions: [act(customer, factory, 400n * milli, [{ do: 'delegatecall', to: router, bubble: true }])],
		alerts: [alertOf('in', transfer(customer, factory, 400n * milli)), foreignCode(customer, factory)],
		unreported: ['0.4 ETH out of the Factory: a delegatecall shows the value of its parent and moves nothing'],
	},
	{
		name: 'caught revert',
		sentence: 'A contract pays Treasury 0.3 ETH inside a call that reverts; the caller catches that and continues.',
		transactions: [
			act(customer, router, 300n * milli, [
				{
					do: 'call',
					to: splitter,
					valueWei: 300n * milli,
					inner: [{ do: 'call', to: treasury, valueWei: 300n * milli, bubble: true }, { do: 'revert' }],
				},
			]),
		],
		alerts: [],
		unreported: ['0.3 ETH to Treasury: the payment itself looks like a success, but the call around it was undone'],
	},
	{
		name: 'whole revert',
		sentence: 'Treasury sends 0.6 ETH to a contract that pays them on to the Factory, and then all of it reverts.',
		transactions: [
			{
				...act(treasury, router, 600n * milli, [
					{ do: 'call', to: factory, valueWei: 600n * milli, bubble: true },
					{ do: 'revert' },
				]),
				succeeds: false,
			},
		],
		alerts: [],
		unreported: ['0.6 ETH out of Treasury and into the Factory: the transaction failed, and only its fee was paid'],
	},
]
