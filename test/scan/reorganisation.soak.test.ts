// Random movements, watches and reorganisations, raced by polls: what stands at the end is what the chain then shows.
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hash } from '../../src/model/glossary.js'
import type { Watch } from '../../src/model/watch.js'
import { hex, startTestAnvil, type TestAnvil } from '../support/anvil.js'
import { fuzzSeed } from '../support/longRun.js'
import { randomOf } from '../support/random.js'
import { alertOf, type Bench, openBench, watchOf } from './bench.js'

const RUNS = 12
const ROUNDS = 70
/** No round goes back by more than this many others. */
const DEEPEST = 40
const first = fuzzSeed ?? Math.floor(Math.random() * 1_000_000_000)
const seeds = Array.from({ length: RUNS }, (_, run) => first + run)

const purse: Address = '0x00000000000000000000000000000000000c0fee'
/** Logs a transfer from the caller to the address in its input. */
const token: Address = '0x0000000000000000000000000000000000070ce2'
/** Pays what it is given to the address in its input. */
const payer: Address = '0x000000000000000000000000000000000000f0d0'
/** Destroys itself in favour of the address in its input. */
const ending: Address = '0x000000000000000000000000000000000000d1e0'
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const codes: readonly (readonly [Address, string])[] = [
	[token, `0x602035600052600035337f${transferTopic}60206000a300`],
	[payer, '0x6000600060006000346000355af100'],
	[ending, '0x600035ff'],
]

/** `more`: what is watched after some reorganisations. */
interface Cast {
	readonly base: readonly Watch[]
	readonly more: readonly Watch[]
	readonly people: readonly Address[]
}

function castOf(people: readonly [Address, Address, Address, Address, Address]): Cast {
	const [one, two, three, four] = people
	const base = [
		watchOf(one, { kinds: ['transfer', 'deployment', 'unexplained'] }),
		watchOf(two, { kinds: ['transfer', 'token'], minValueWei: 500n }),
		watchOf(two, { kinds: ['transfer', 'unexplained'], receivers: ['hook', 'two'], watchlist: 'b.yaml' }),
		watchOf(purse, {
			kinds: ['balance', 'transfer', 'unexplained'],
			thresholds: { belowWei: 5n, aboveWei: 50n },
		}),
	]
	const late = [
		watchOf(three, { kinds: ['transfer', 'unexplained'], fromBlock: 2n, watchlist: 'c.yaml' }),
		watchOf(four, { kinds: ['transfer', 'token'], fromBlock: 4n }),
	]
	return { base, more: [...base, ...late], people }
}

interface Tx {
	readonly from: Address
	readonly to?: Address
	readonly value: string
	readonly data?: string
	readonly nonce: number
}

const word = (text: string) => text.slice(2).padStart(64, '0')

/** A transaction of any kind; the purse is given little, so that it passes its thresholds slowly. */
function anyTx(people: readonly Address[], nonces: ReadonlyMap<Address, number>, pick: (count: number) => number): Tx {
	const from = people[pick(people.length)] as Address
	const to = [...people, purse][pick(people.length + 1)] as Address
	const nonce = nonces.get(from) ?? 0
	const raw = hex(BigInt(1 + pick(1_000)))
	const value = to === purse ? hex(BigInt(pick(9))) : raw
	const data = `0x${word(to)}`
	return [
		{ from, to, value, nonce },
		{ from, to: token, value: '0x0', data: `${data}${word(raw)}`, nonce },
		{ from, to: payer, value, data, nonce },
		{ from, to: ending, value, data, nonce },
		{ from, value: raw, data: '0x60016000f3', nonce },
	][pick(5)] as Tx
}

/** Polls that meet a chain in change may fail; the next ones go on. */
async function poll(bench: Bench): Promise<boolean> {
	try {
		await bench.settle()
		return true
	} catch {
		return false
	}
}

async function play(node: TestAnvil, bench: Bench, { people, more }: Cast, random: () => number): Promise<void> {
	const pick = (count: number) => Math.floor(random() * count)
	let nonces = new Map<Address, number>()
	const places: { readonly id: string; readonly nonces: ReadonlyMap<Address, number> }[] = []
	let sent: { readonly tx: Tx; readonly depth: number }[] = []
	/** Of blocks that were replaced; some are sent again. */
	const lost: Tx[] = []

	async function block(): Promise<void> {
		places.push({ id: await node.rpc('evm_snapshot'), nonces: new Map(nonces) })
		for (let count = pick(4); count > 0; count--) {
			const again = lost.find(({ from, nonce }) => (nonces.get(from) ?? 0) === nonce)
			const other = anyTx(people, nonces, pick)
			const tx = again !== undefined && random() < 0.5 ? again : other
			const fixed = { nonce: hex(BigInt(tx.nonce)), gas: hex(200_000n), gasPrice: hex(20_000_000_000n) }
			await node.rpc('eth_sendTransaction', [{ ...tx, ...fixed }])
			nonces.set(tx.from, tx.nonce + 1)
			sent.push({ tx, depth: places.length })
		}
		await node.mine()
	}

	async function reorganise(round: number): Promise<void> {
		const depth = Math.max(0, places.length - 1 - pick(Math.min(DEEPEST, places.length)))
		const place = places[depth]
		if (place === undefined) return
		const racing = random() < 0.5 ? poll(bench) : null
		for (let asked = pick(12); racing !== null && asked > 0; asked--) await node.rpc('eth_blockNumber')
		await node.rpc('evm_revert', [place.id])
		places.length = depth
		nonces = new Map(place.nonces)
		lost.push(...sent.filter((one) => one.depth > depth).map(({ tx }) => tx))
		sent = sent.filter((one) => one.depth <= depth)
		if (random() < 0.4) await poll(bench)
		if (round > ROUNDS / 3) bench.setWatches(more)
		await node.mine(1 + pick(2))
		await racing
	}

	for (let round = 0; round < ROUNDS; round++) {
		await block()
		if (random() < 0.13 && places.length > 3) await reorganise(round)
		if (random() < 0.5) await poll(bench)
	}
	bench.setWatches(more)
	await node.mine(60)
	await poll(bench)
	await node.mine(5)
	for (let polls = 0; !(await poll(bench)); polls++) {
		if (polls === 8) throw new Error('no poll succeeds, although the chain has come to rest')
		bench.pass(20_000)
	}
}

interface Row {
	readonly type: string
	readonly error?: string
	readonly traceAddress: readonly number[]
	readonly transactionHash: Hash
	readonly result?: { readonly address?: Address } | null
	readonly action: {
		readonly callType?: string
		readonly from?: Address
		readonly to?: Address
		readonly value?: string
		readonly balance?: string
		readonly address?: Address
		readonly refundAddress?: Address
	}
}

/** The first block of each watch's alerts. */
type Begun = ReadonlyMap<Address, bigint>

function dueOfRow({ type, action, result, traceAddress, transactionHash }: Row, begun: Begun, at: bigint): string[] {
	if (type === 'call' && action.callType !== 'call') return []
	const isEnd = type === 'suicide'
	const from = isEnd ? action.address : action.from
	const to = type === 'create' ? result?.address : isEnd ? action.refundAddress : action.to
	const place = traceAddress.length === 0 ? 'root' : traceAddress.join('_')
	return [...new Set([from, to])].flatMap((address) => {
		const since = address === undefined ? undefined : begun.get(address)
		if (since === undefined || at < since) return []
		const [one, two] = [...begun.keys()]
		const isDeployment = type === 'create' && address === one
		if (!isDeployment && BigInt(action.value ?? action.balance ?? 0) === 0n) return []
		const id = `31337:${transactionHash}:${place}:${isDeployment ? 'deployment' : 'transfer'}:${address}`
		return address === two ? [`hook ${id}`, `two ${id}`] : [`hook ${id}`]
	})
}

/** What is due by the node's traces, receipts and balances; of `balance` only what crossed while it was watched. */
async function dueOf(node: TestAnvil, begun: Begun, start: bigint): Promise<ReadonlySet<string>> {
	const due = new Set<string>()
	const [, two, , four] = [...begun.keys()]
	for (let at = 1n, head = await node.head(); at <= head; at++) {
		const rows = await node.rpc<Row[]>('trace_block', [hex(at)])
		const isAbove = (over: Row, row: Row) =>
			over.transactionHash === row.transactionHash && over.traceAddress.every((n, i) => row.traceAddress[i] === n)
		const standing = rows.filter((row) => !rows.some((over) => over.error !== undefined && isAbove(over, row)))
		for (const id of standing.flatMap((row) => dueOfRow(row, begun, at))) due.add(id)
		const { transactions } = await node.rpc<{ transactions: Hash[] }>('eth_getBlockByNumber', [hex(at), false])
		for (const txHash of transactions) {
			type Logged = { readonly logs: readonly { readonly topics: readonly string[]; readonly data: string }[] }
			const { logs } = await node.rpc<Logged>('eth_getTransactionReceipt', [txHash])
			for (const [index, { topics }] of logs.entries()) {
				const parties = topics.slice(1).map((topic): Address => `0x${topic.slice(26)}`)
				for (const address of [two, four]) {
					if (address === undefined || !parties.includes(address) || at < (begun.get(address) ?? 0n)) continue
					due.add(`hook 31337:${txHash}:log_${index}:token:${address}`)
				}
			}
		}
		if (at < start) continue
		const [before, after] = [await node.balanceWei(purse, at - 1n), await node.balanceWei(purse, at)]
		if (after < 5n && before >= 5n) due.add(`hook 31337:${at}:below:balance:${purse}`)
		if (after > 50n && before <= 50n) due.add(`hook 31337:${at}:above:balance:${purse}`)
	}
	return due
}

/** How often each alert stands for its receiver: as often as it was sent, less as often as it was retracted. */
async function standingOf(bench: Bench): Promise<ReadonlyMap<string, number>> {
	const counts = new Map<string, number>()
	for (const one of await bench.store.deliveries()) {
		const key = 'txHash' in one.message.data ? `${one.receiver} ${alertOf(one).id}` : one.message.type
		counts.set(key, (counts.get(key) ?? 0) + (one.message.type === 'alert.removed' ? -1 : 1))
	}
	return new Map([...counts].filter(([, count]) => count !== 0))
}

test.each(seeds)('property: after movements and reorganisations by seed %i, what stands is the truth', async (seed) => {
	const node = await startTestAnvil(['--no-mining'])
	onTestFinished(() => node.stop())
	for (const [address, code] of codes) await node.rpc('anvil_setCode', [address, code])
	const people = (await node.accounts()).slice(0, 5) as [Address, Address, Address, Address, Address]
	const cast = castOf(people)
	const tokens = new Map([[token, { address: token, symbol: 'TKN', decimals: 0, minAmountRaw: null }]])
	const bench = await openBench({ urls: [node.url], watches: cast.base, network: { settle: 3, tokens } })
	onTestFinished(() => bench.close())
	await node.mine(2)
	await bench.settle()
	const start = (await node.head()) + 1n
	await play(node, bench, cast, randomOf(seed))

	const [one, two, three, four] = people
	const begun = new Map([
		[one, start],
		[two, start],
		[three, 2n],
		[four, 4n],
		[purse, start],
	])
	const due = await dueOf(node, begun, start)
	const standing = await standingOf(bench)
	// A balance that was low when it was first compared is told too, in whatever block that was.
	const isLow = (key: string) => key.includes(':below:')
	const others = [...standing].filter(([key]) => !isLow(key) || due.has(key))
	expect(new Map(others)).toEqual(new Map([...due].map((key) => [key, 1])))
	const low = [...standing].filter(([key]) => isLow(key))
	expect(low.every(([, count]) => count === 1)).toBe(true)
	if ((await node.balanceWei(purse, start + 1n)) < 5n) expect(low.length).toBeGreaterThanOrEqual(1)
})
