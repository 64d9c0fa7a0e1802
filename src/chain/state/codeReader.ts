import * as Keccak from 'ox/Hash'
import { signalWithin } from '../../base/waits/deadline.js'
import { createSlots } from '../../base/waits/slots.js'
import { cut } from '../../core/lists.js'
import { RpcError } from '../../errors.js'
import type { BlockRef } from '../../model/chain.js'
import type { CodeFacts, CodeReader } from '../../model/contract.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { SlotChange } from '../../model/ownFields.js'
import { askAll, blockCall, needBlock } from '../blocks/batchedCalls.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import { gathered } from '../rpc/gathered.js'
import type { Rpc } from '../rpc/rpc.js'
import { delegateIn } from '../wire/delegate.js'
import { hexOf, isObject, malformed, unsettled } from '../wire/wire.js'
import { mild } from './mildly.js'

/** Codes in one batch; each may have 24 KiB, 48 KiB as text. */
const MOST_CODES = 50
/** Batches asked for at once: the header that proves one does not wait for all others. */
const MOST_BATCHES = 20
/** Addresses whose answers are kept, by block. */
const MOST_ANSWERS = 40_000
/** Codes whose facts are kept. */
const MOST_KEPT = 5_000
/** Alerts wait for it. */
const CHANGES_MS = 3_000

interface Asked {
	/** null: no code. */
	readonly answer: Promise<CodeFacts | null>
	/** Of the asker. */
	readonly stop: AbortSignal
	hasCome: boolean
}

function isValid(asked: Asked | undefined): boolean {
	return asked !== undefined && (asked.hasCome || !asked.stop.aborted)
}

/** Asks the first endpoint that has the state. */
export function createCodeReader({ endpoints }: { readonly endpoints: Pick<Endpoints, 'use'> }): CodeReader {
	/** By the text of the code, since many addresses share one. */
	const known = new Map<Hex, CodeFacts>()
	/** By block and address, also while they are asked for. No code is asked for twice. */
	const answers = new Map<string, Asked>()
	const slots = createSlots(MOST_BATCHES)

	function factsOf(code: Hex): CodeFacts {
		const before = known.get(code)
		if (before !== undefined) return before
		const facts = { hash: Keccak.keccak256(code), delegate: delegateIn(code), constants: constantsIn(code) }
		const [oldest] = known.keys()
		if (known.size >= MOST_KEPT && oldest !== undefined) known.delete(oldest)
		known.set(code, facts)
		return facts
	}

	async function readSome(
		rpc: Rpc,
		addresses: readonly Address[],
		block: BlockRef,
		signal: AbortSignal,
	): Promise<readonly (readonly [Address, CodeFacts])[]> {
		const reading = { endpoint: rpc.endpoint, method: 'eth_getCode' }
		const calls = addresses.map((address) => ({ method: 'eth_getCode', params: [address, hexOf(block.number)] }))
		const answers = await askAll(rpc, calls, signal)
		// Codes are asked for by number, which every node takes; the header then shows of which block they are.
		const [header] = await askAll(rpc, [blockCall(block.number)], signal)
		if (needBlock(header, block.number, rpc.endpoint).hash !== block.hash)
			throw unsettled(reading, `block ${block.number} was replaced`)
		return addresses.flatMap((address, at) => {
			const code = answers[at]
			if (typeof code !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(code)) throw malformed(reading, 'no code came')
			return code === '0x' ? [] : [[address, factsOf(code.toLowerCase() as Hex)] as const]
		})
	}

	async function askSome(some: readonly Address[], block: BlockRef, signal: AbortSignal) {
		const free = await slots.take()
		try {
			signal.throwIfAborted()
			const job = mild((rpc, until) => readSome(gathered(rpc), some, block, until))
			return new Map(await endpoints.use(job, signal, { block: block.number }))
		} finally {
			free()
		}
	}

	/** A failure is not kept. */
	function keep(key: string, asked: Asked): void {
		const [oldest] = answers.keys()
		if (answers.size >= MOST_ANSWERS && oldest !== undefined) answers.delete(oldest)
		answers.set(key, asked)
		asked.answer.then(
			() => {
				asked.hasCome = true
			},
			() => answers.get(key) === asked && answers.delete(key),
		)
	}

	/** What was asked before counts, unless its asker was stopped meanwhile. */
	function ask(all: readonly Address[], block: BlockRef, signal: AbortSignal): ReadonlyMap<Address, Asked> {
		const keyOf = (address: Address) => `${block.hash}:${address}`
		const before = (address: Address) => answers.get(keyOf(address))
		const missing = all.filter((address) => !isValid(before(address)))
		for (const some of cut(missing, MOST_CODES)) {
			const codes = askSome(some, block, signal)
			for (const address of some) {
				const answer = codes.then((found) => found.get(address) ?? null)
				keep(keyOf(address), { answer, stop: signal, hasCome: false })
			}
		}
		return new Map(all.flatMap((address) => [[address, before(address)]] as [Address, Asked][]))
	}

	return {
		async codes(addresses, block, signal) {
			const found = new Map<Address, CodeFacts>()
			let left: readonly Address[] = [...new Set(addresses)]
			while (left.length > 0) {
				const again: Address[] = []
				const reading = [...ask(left, block, signal)].map(async ([address, { answer, stop }]) => {
					try {
						const facts = await answer
						if (facts !== null) found.set(address, facts)
					} catch (error) {
						if (signal.aborted || !stop.aborted) throw error
						again.push(address)
					}
				})
				await Promise.all(reading)
				left = again
			}
			return found
		},
		async facets(address, { number }, signal) {
			try {
				const call = { to: address, data: facetAddresses, gas: hexOf(FACETS_GAS) }
				const job = mild((rpc, until) => rpc.call('eth_call', [call, hexOf(number)], until))
				return addressesIn(await endpoints.use(job, signalWithin(CHANGES_MS, signal), { block: number }))
			} catch {
				signal.throwIfAborted()
				return []
			}
		},
		async changedBy(txHash, address, signal) {
			try {
				const job = mild((rpc, until) => readChanges(gathered(rpc), txHash, address, until))
				return (await endpoints.use(job, signalWithin(CHANGES_MS, signal))).slots
			} catch {
				signal.throwIfAborted()
				return null
			}
		},
	}
}

/** Its first four bytes. */
const facetAddresses = '0x52ef6b2c'
const FACETS_GAS = 10_000_000n
const MOST_FACETS = 200

/** Of an answer of type address[]; empty for one of another form. */
function addressesIn(raw: unknown): readonly Address[] {
	if (typeof raw !== 'string' || !/^0x(?:[0-9a-f]{64}){2,}$/i.test(raw)) return []
	const words = raw.slice(2).toLowerCase().match(/.{64}/g) ?? []
	const [offset, count, ...rest] = words
	if (BigInt(`0x${offset}`) !== 32n || BigInt(`0x${count}`) !== BigInt(rest.length)) return []
	const own = rest.slice(0, MOST_FACETS).filter((word) => /^0{24}/.test(word))
	return own.map((word): Address => `0x${word.slice(24)}`)
}

/** Addresses that the code pushes as constants: 14 to 32 bytes, since compilers leave out zeros at the front. */
function constantsIn(code: Hex): ReadonlySet<Address> {
	const found = new Set<Address>()
	for (let at = 2; at < code.length; at += 2) {
		const operation = Number.parseInt(code.slice(at, at + 2), 16)
		// PUSH1 is 0x60, PUSH32 0x7f.
		const size = operation >= 0x60 && operation <= 0x7f ? operation - 0x5f : 0
		if (size >= 14) {
			const data = code.slice(at + 2, at + 2 + 2 * size).padStart(40, '0')
			if (/^0*$/.test(data.slice(0, -40))) found.add(`0x${data.slice(-40)}`)
		}
		at += 2 * size
	}
	return found
}

/** What a transaction changed in the storage of an address, and which tracer says so. Throws RpcError if none does. */
export async function readChanges(
	rpc: Rpc,
	txHash: Hash,
	address: Address,
	signal: AbortSignal,
): Promise<{ readonly by: 'prestateTracer' | 'trace_replayTransaction'; readonly slots: readonly SlotChange[] }> {
	const asDiff = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
	try {
		const call = { method: 'debug_traceTransaction', params: [txHash, asDiff], isWhole: true } as const
		const [raw] = await askAll(rpc, [call], signal)
		return { by: 'prestateTracer', slots: changesIn(storageOf(raw, 'pre', address), storageOf(raw, 'post', address)) }
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		const method = 'trace_replayTransaction'
		const raw = await rpc.call(method, [txHash, ['stateDiff']], signal)
		return { by: method, slots: stateDiffIn(raw, address, { endpoint: rpc.endpoint, method }) }
	}
}

type Slots = ReadonlyMap<string, string>

/** Of an answer of the prestateTracer. Throws RpcError for one of another form. */
function storageOf(raw: unknown, side: 'pre' | 'post', address: Address): Slots {
	const accounts = isObject(raw) ? raw[side] : undefined
	if (!isObject(accounts)) throw malformed({ endpoint: '', method: 'debug_traceTransaction' }, 'no difference came')
	const account = Object.entries(accounts).find(([key]) => key.toLowerCase() === address)?.[1]
	const storage = isObject(account) && isObject(account.storage) ? account.storage : {}
	return new Map(Object.entries(storage).map(([slot, value]) => [word(slot), word(value)]))
}

/** A side leaves out slots that are zero there. */
function changesIn(before: Slots, after: Slots): readonly SlotChange[] {
	const slots = [...new Set([...before.keys(), ...after.keys()])]
	return slots
		.map((slot) => changeOf(slot, before.get(slot) ?? zero, after.get(slot) ?? zero))
		.filter(({ previous, current }) => previous !== current)
}

/** Of an answer of `trace_replayTransaction`: `{"*": {from, to}}`, `{"+": value}` or `{"-": value}` by slot. */
function stateDiffIn(raw: unknown, address: Address, reading: { endpoint: string; method: string }) {
	const diff = isObject(raw) ? raw.stateDiff : undefined
	if (!isObject(diff)) throw malformed(reading, 'no difference came')
	const account = Object.entries(diff).find(([key]) => key.toLowerCase() === address)?.[1]
	const storage = isObject(account) && isObject(account.storage) ? account.storage : {}
	return Object.entries(storage).flatMap(([slot, change]) => {
		if (!isObject(change)) return []
		const both = isObject(change['*']) ? change['*'] : { from: change['-'] ?? zero, to: change['+'] ?? zero }
		const one = changeOf(word(slot), word(both.from), word(both.to))
		return one.previous === one.current ? [] : [one]
	})
}

function changeOf(slot: string, previous: string, current: string): SlotChange {
	return { slot, name: null, previous, current }
}

const zero = `0x${'0'.repeat(64)}`

/** A word of 32 bytes; some nodes leave out zeros at the front. */
function word(value: unknown): string {
	return typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)
		? `0x${value.slice(2).toLowerCase().padStart(64, '0')}`
		: zero
}
