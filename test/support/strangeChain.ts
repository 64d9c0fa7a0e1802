// A chain made by chance, and the truth of it: whoever makes a chain knows what moved, and needs no trace to say so.
import { sha256 as digest } from '../../src/base/sha256.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import { randomOf } from './random.js'

export interface StrangeFrame {
	readonly type: 'call' | 'create' | 'suicide'
	readonly callType: 'call' | 'delegatecall' | 'callcode' | 'staticcall' | null
	readonly from: Address
	readonly to: Address
	/** As nodes show it: of a delegatecall its parent's. */
	readonly wei: bigint
	readonly isCreate2: boolean
	children: readonly StrangeFrame[]
	error: string | null
}

export interface StrangeTx {
	readonly hash: Hash
	readonly from: Address
	readonly root: StrangeFrame
	readonly gasUsed: bigint
	readonly tip: bigint
}

export interface StrangeBlock {
	readonly number: bigint
	readonly hash: Hash
	readonly parentHash: Hash
	readonly timestampS: bigint
	readonly miner: Address
	readonly txs: readonly StrangeTx[]
	readonly withdrawals: readonly { readonly index: bigint; readonly address: Address; readonly gwei: bigint }[]
	readonly balances: ReadonlyMap<Address, bigint>
}

export interface StrangeWorld {
	readonly seed: number
	readonly people: readonly Address[]
	readonly contracts: readonly Address[]
	readonly miner: Address
	readonly genesis: StrangeBlock
}

export const baseFee = 7_000_000_000n

const errors = ['Reverted', 'out of gas', 'invalid opcode: INVALID', 'execution reverted', 'Bad instruction', 'Error']

const nameOf = (...parts: readonly unknown[]): Hash => `0x${digest(parts.join(' '))}`
const addressOf = (...parts: readonly unknown[]): Address => `0x${digest(parts.join(' ')).slice(0, 40)}`

function isPrecompile(address: Address): boolean {
	return /^0x0{38}/.test(address)
}

/** Calls to precompiled contracts that carry nothing have no place in the numbering of frames. */
export function listed({ children }: StrangeFrame): readonly StrangeFrame[] {
	return children.filter(({ to, wei }) => !isPrecompile(to) || wei > 0n)
}

export function strangeWorld(seed: number): StrangeWorld {
	const many = (what: string, count: number) => Array.from({ length: count }, (_, at) => addressOf(what, seed, at))
	const people = many('person', 6)
	const contracts = many('contract', 8)
	const balances = new Map([
		...people.map((one) => [one, 10n ** 24n] as const),
		...contracts.map((one) => [one, 10n ** 20n] as const),
	])
	const parentHash: Hash = `0x${'0'.repeat(64)}`
	const at = { number: 0n, hash: nameOf('genesis', seed), parentHash, timestampS: 1_760_000_000n }
	const genesis = { ...at, miner: addressOf('miner', seed), txs: [], withdrawals: [], balances }
	return { seed, people, contracts, miner: genesis.miner, genesis }
}

/**
 * The block after `parent`. `fork` makes it another one; `again`: names of transactions of blocks that were given up,
 * some of which are mined again, on another state: what they move may be another amount.
 */
export function strangeBlock(
	world: StrangeWorld,
	parent: StrangeBlock,
	fork: number,
	again: readonly Hash[] = [],
): StrangeBlock {
	const number = parent.number + 1n
	const random = randomOf(Number.parseInt(digest(`${world.seed} ${number} ${fork}`).slice(0, 8), 16))
	const balances = new Map(parent.balances)
	const fresh = Array.from({ length: Math.floor(random() * 5) }, (_, at) => nameOf(world.seed, number, fork, at))
	const names = [...again.filter(() => random() < 0.6), ...fresh]
	const txs = names.map((name) => strangeTx(world, balances, name))
	// As on Ethereum every block pays someone: headers between hits are read only where one was seen that pays.
	const paid = [world.people.at(-1) ?? world.miner, ...world.contracts.filter(() => random() < 0.1)]
	const withdrawals = paid.map((address, at) => {
		return { index: number * 16n + BigInt(at), address, gwei: BigInt(1 + Math.floor(random() * 1e9)) }
	})
	const give = (to: Address, wei: bigint) => balances.set(to, (balances.get(to) ?? 0n) + wei)
	for (const { gasUsed, tip } of txs) give(world.miner, gasUsed * tip)
	for (const { address, gwei } of withdrawals) give(address, gwei * 10n ** 9n)
	const hash = nameOf('block', parent.hash, number, fork)
	const timestampS = parent.timestampS + 2n
	return { number, hash, parentHash: parent.hash, timestampS, miner: world.miner, txs, withdrawals, balances }
}

/** Its shape is its name's; what contracts pay on depends on what they have. */
function strangeTx(world: StrangeWorld, balances: Map<Address, bigint>, hash: Hash): StrangeTx {
	const random = randomOf(Number.parseInt(hash.slice(2, 10), 16))
	const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
	const amount = () => (random() < 0.3 ? 0n : BigInt(1 + Math.floor(random() * 1e9)) * 10n ** BigInt(pick([0, 3, 9])))
	const made: Address[] = []
	const have = (state: Map<Address, bigint>, who: Address) => state.get(who) ?? 0n
	const anyone = () => {
		if (random() < 0.1) return `0x${'0'.repeat(39)}${1 + Math.floor(random() * 9)}` as Address
		return pick([...world.contracts, ...world.contracts, ...world.people, ...made])
	}
	let frames = 0

	/** Runs `enter` on a copy of the state, which counts when the frame does not fail. */
	function frame(
		state: Map<Address, bigint>,
		facts: Omit<StrangeFrame, 'children' | 'error'>,
		pays: boolean,
		enter: (inner: Map<Address, bigint>) => readonly StrangeFrame[],
		risk: number,
	): StrangeFrame {
		const own: StrangeFrame = { ...facts, children: [], error: null }
		const inner = new Map(state)
		if (pays && have(inner, own.from) < own.wei) return { ...own, error: 'Insufficient balance for transfer' }
		if (pays) {
			inner.set(own.from, have(inner, own.from) - own.wei)
			inner.set(own.to, have(inner, own.to) + own.wei)
		}
		own.children = enter(inner)
		if (random() < risk) own.error = pick(errors)
		else for (const [who, wei] of inner) state.set(who, wei)
		return own
	}

	function call(
		state: Map<Address, bigint>,
		callType: StrangeFrame['callType'],
		from: Address,
		own: bigint,
		up: bigint,
	) {
		const isBorrowed = callType === 'delegatecall' || callType === 'callcode'
		const to = isBorrowed ? pick(world.contracts) : anyone()
		const wei = callType === 'staticcall' ? 0n : callType === 'delegatecall' ? up : own
		const runs = !isPrecompile(to) && !world.people.includes(to)
		const enter = (inner: Map<Address, bigint>) =>
			runs ? body(inner, isBorrowed ? from : to, wei, callType === 'staticcall') : []
		return frame(state, { type: 'call', callType, from, to, wei, isCreate2: false }, callType === 'call', enter, 0.2)
	}

	function create(state: Map<Address, bigint>, from: Address, wei: bigint): StrangeFrame {
		const to = addressOf('made', hash, made.length)
		made.push(to)
		const facts = { type: 'create', callType: null, from, to, wei, isCreate2: random() < 0.5 } as const
		return frame(state, facts, true, (inner) => (random() < 0.3 ? [end(inner, to)] : body(inner, to, wei, false)), 0.25)
	}

	/** To itself it burns nothing, as since Cancun for contracts that are older than their transaction. */
	function end(state: Map<Address, bigint>, who: Address): StrangeFrame {
		const heir = random() < 0.2 && !made.includes(who) ? who : pick([...world.people, ...world.contracts])
		const wei = have(state, who)
		if (heir !== who) {
			state.set(who, 0n)
			state.set(heir, have(state, heir) + wei)
		}
		return { type: 'suicide', callType: null, from: who, to: heir, wei, isCreate2: false, children: [], error: null }
	}

	function body(state: Map<Address, bigint>, self: Address, up: bigint, isStatic: boolean): readonly StrangeFrame[] {
		const children: StrangeFrame[] = []
		for (let left = frames > 25 ? 0 : Math.floor(random() * 4); left > 0; left--) {
			frames++
			const kind = random()
			if (isStatic || kind < 0.12) children.push(call(state, 'staticcall', self, 0n, up))
			else if (kind < 0.3) children.push(call(state, 'delegatecall', self, 0n, up))
			// Whoever lends code pays no one but himself, and needs to have it.
			else if (kind < 0.36) children.push(call(state, 'callcode', self, have(state, self) / 2n, up))
			else if (kind < 0.5) children.push(create(state, self, amount()))
			else if (kind < 0.56) return [...children, end(state, self)]
			// What comes in goes on, often: another amount on another state.
			else children.push(call(state, 'call', self, random() < 0.3 ? have(state, self) / 3n : amount(), up))
		}
		return children
	}

	const from = pick(world.people)
	const [gasUsed, tip] = [21_000n + BigInt(Math.floor(random() * 100_000)), BigInt(Math.floor(random() * 3))]
	balances.set(from, have(balances, from) - gasUsed * (baseFee + tip))
	const root = random() < 0.15 ? create(balances, from, amount()) : call(balances, 'call', from, amount(), 0n)
	return { hash, from, root, gasUsed, tip }
}

/** Alert ids of all that moved, each with the amount: for whoever is watched, by the rules of the contract. */
export function truthOf(chainId: number, blocks: readonly StrangeBlock[], watched: ReadonlySet<Address>) {
	const truth = new Map<string, string>()
	const put = (place: string, kind: string, sides: readonly Address[], wei: bigint) => {
		for (const side of sides) if (watched.has(side)) truth.set(`${chainId}:${place}:${kind}:${side}`, `${wei}`)
	}
	const visit = (one: StrangeFrame, tx: StrangeTx, path: readonly number[]) => {
		if (one.error !== null) return
		const place = `${tx.hash}:${path.join('_') || 'root'}`
		const moves = one.wei > 0n && (one.callType === 'call' || (one.type === 'suicide' && one.from !== one.to))
		if (one.type === 'create') put(place, 'deployment', [one.from, one.to], one.wei)
		else if (moves) put(place, 'transfer', [one.from, one.to], one.wei)
		for (const [at, child] of listed(one).entries()) visit(child, tx, [...path, at])
	}
	for (const { txs, withdrawals } of blocks) {
		for (const tx of txs) visit(tx.root, tx, [])
		for (const { index, address, gwei } of withdrawals) {
			put(`withdrawal:${index}`, 'withdrawal', [address], gwei * 10n ** 9n)
		}
	}
	return truth
}
