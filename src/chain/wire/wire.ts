/**
 * The room reads single values and whole headers out of answers, and computes the trees that they are checked by. It is
 * written by hand, because a schema library would cost more than the rest of the decoding. Readers of one value return
 * null for what they cannot read; readers of a whole answer throw `malformed`.
 *
 * Quantities come as 0x-hex, decimal text or JSON numbers, addresses in any case (docs/nodes.md, "What counts as an
 * answer").
 */

import { RpcError, type RpcErrorFacts } from '../../errors.js'
import type { Block, BlockRef, CalledFunctions, Withdrawal } from '../../model/chain.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import { emptyRoot } from './listRoot.js'

/** The answer that is being read: for errors, and for unknown kinds of frames. */
export interface Reading {
	readonly endpoint: string
	readonly method: string
	/** Called for a trace or call type that this program does not know. */
	readonly onUnknown?: (type: string) => void
	/** Called where an answer has transactions that the header does not name; they are ignored. */
	readonly onForeign?: (block: bigint, count: number) => void
	/** Calls whose inputs are read; absent: only those that request something of the consensus layer. */
	readonly calls?: CalledFunctions | undefined
}

export type Json = { readonly [key: string]: unknown }

export function malformed(reading: Reading, what: string, more: Pick<RpcErrorFacts, 'ofHeader'> = {}): RpcError {
	const { endpoint, method } = reading
	return new RpcError(`${endpoint} gave an answer to ${method} that cannot be believed: ${what}`, {
		kind: 'malformed',
		endpoint,
		method,
		content: true,
		...more,
	})
}

/** The chain changed during the reading, or the node has not finished the block: a retry helps. */
export function unsettled(reading: Reading, what: string): RpcError {
	const { endpoint, method } = reading
	return new RpcError(`${endpoint} answered ${method} while the chain was moving: ${what}`, {
		kind: 'unsettled',
		endpoint,
		method,
	})
}

/** A block with its transactions, as they came. Throws if it is not the block that was asked for. */
export function wholeBlock(
	raw: unknown,
	{ number, hash: own }: BlockRef,
	reading: Reading,
): Json & { readonly transactions: readonly unknown[] } {
	const transactions = isObject(raw) ? listIn(raw) : null
	if (!isObject(raw) || transactions === null) throw malformed(reading, 'a block without transactions')
	if (hash(raw.hash) !== own) throw unsettled(reading, `block ${number} was replaced`)
	return { ...raw, transactions }
}

/** Names a value that is no text in a message, without its contents, which may be long or malicious. */
export function nameOf(value: unknown): string {
	if (value === null || value === undefined) return 'nothing'
	return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function isObject(value: unknown): value is Json {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const HEX = /^0x[0-9a-f]+$/i
const DECIMAL = /^[0-9]+$/
/** A word of the EVM has 32 bytes; nodes that pad write at most twice as many digits. */
const MOST_HEX = 2 + 128
const MOST_DECIMAL = 78
const WORD = 1n << 256n
const BYTES = /^0x[0-9a-f]*$/i
/** By character code: 1 for hex digits, letters only in lower case. */
const isDigit = new Uint8Array(128)
for (const digit of '0123456789abcdef') isDigit[digit.charCodeAt(0)] = 1

/**
 * A number of at most 32 bytes. A bare `0x` is none: no recorded answer of a node has one, and a zero is written `0x0`
 * (docs/nodes.md, "What counts as an answer"). The length is checked first, because `BigInt` of megabytes of digits
 * takes seconds.
 */
export function quantity(value: unknown): bigint | null {
	if (typeof value === 'string') {
		const isShort = value.length <= (value.startsWith('0x') ? MOST_HEX : MOST_DECIMAL)
		if (!isShort || !(HEX.test(value) || DECIMAL.test(value))) return null
		const number = BigInt(value)
		return number < WORD ? number : null
	}
	return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
}

export function smallNumber(value: unknown): number | null {
	if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : null
	const big = quantity(value)
	return big !== null && big <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(big) : null
}

export function address(value: unknown): Address | null {
	return typeof value === 'string' && value.length === 42 ? (digitsOf(value) as Address | null) : null
}

export function hash(value: unknown): Hash | null {
	return typeof value === 'string' && value.length === 66 ? (digitsOf(value) as Hash | null) : null
}

/** In lower case. Checked digit by digit, and copied only if it has capitals: a third of the time of a pattern. */
function digitsOf(text: string): Hex | null {
	if (areDigits(text)) return text as Hex
	const lower = text.toLowerCase()
	return areDigits(lower) ? (lower as Hex) : null
}

function areDigits(text: string): boolean {
	if (text.charCodeAt(0) !== 0x30 || text.charCodeAt(1) !== 0x78) return false
	let all = 1
	for (let at = 2; at < text.length; at++) all &= isDigit[text.charCodeAt(at)] ?? 0
	return all === 1
}

/** Whole bytes in lower case; null where it is no hex of whole bytes, or not `length` bytes. */
export function hexBytes(value: unknown, length?: number): Hex | null {
	if (typeof value !== 'string' || value.length % 2 !== 0 || !areBytes(value)) return null
	if (length !== undefined && value.length !== 2 + length * 2) return null
	return value.toLowerCase() as Hex
}

/** A pattern takes a tenth of a second for a log of megabytes, which an attacker can write; decoding is faster. */
function areBytes(text: string): boolean {
	if (text.length < longText) return BYTES.test(text)
	// Decoding stops at the first letter that is no hex digit, but sees only the low byte of letters beyond ASCII.
	const isAscii = Buffer.byteLength(text) === text.length
	return isAscii && text.startsWith('0x') && Buffer.from(text.slice(2), 'hex').length === text.length / 2 - 1
}

const longText = 4_096

function rootOf(value: unknown): Hash | null {
	const root = hash(value)
	return root === null || BigInt(root) === 0n ? null : root
}

/** 0x-hex without leading zeros, the one form that every node accepts. */
export function hexOf(number: bigint): Hex {
	return `0x${number.toString(16)}`
}

/** A block with the header fields that only `chain` needs. */
export interface Header extends Block {
	/** Null where the node does not say. 0 to 2 where blocks are not mined: proof of stake or of authority. */
	readonly difficulty: bigint | null
	/** Root of its receipts; null where the node does not say, or gives zero as some rollups do. */
	readonly receiptsRoot: Hash | null
	/** 256 bytes; null where it says nothing. */
	readonly logsBloom: Hex | null
	/** Root of its withdrawals, where there are any; null where the node does not say. */
	readonly withdrawalsRoot: Hash | null
}

const FULL_BLOOM = `0x${'f'.repeat(512)}`

/** The bloom of a block or receipt; null where it says nothing: missing, not of 256 bytes, or with every bit set. */
export function bloomIn({ logsBloom }: Json): Hex | null {
	const bloom = hexBytes(logsBloom, 256)
	return bloom === FULL_BLOOM ? null : bloom
}

/** Later timestamps have no ISO 8601 form with four digits, and beyond the year 275760 no date at all. */
const LAST_SECOND = 253_402_300_799n
/** Units of a second: some chains write timestamps in milli-, micro- or nanoseconds (Quorum with Raft). */
const UNITS = [1n, 1_000n, 1_000_000n, 1_000_000_000n]

/** Null where there is none, or no unit makes a date of it. */
function timestampIn(raw: unknown): bigint | null {
	const written = quantity(raw)
	const unit = written === null ? undefined : UNITS.find((one) => written / one <= LAST_SECOND)
	return written === null || unit === undefined ? null : written / unit
}

/** Reads the answer to `eth_getBlockByNumber(…, false)`; null where the node has no such block. */
export function readBlock(raw: unknown, reading: Reading): Header | null {
	if (raw === null) return null
	if (!isObject(raw)) throw malformed(reading, 'a block is not an object')
	const number = quantity(raw.number)
	const blockHash = hash(raw.hash)
	const parentHash = hash(raw.parentHash)
	const timestampS = timestampIn(raw.timestamp)
	if (number === null || blockHash === null || parentHash === null) {
		throw malformed(reading, 'a block lacks its number, hash or parent hash')
	}
	if (number > BigInt(Number.MAX_SAFE_INTEGER))
		throw malformed(reading, 'a block has a number that no chain has reached')
	const txHashes = readTxHashes(raw, reading)
	const { withdrawals, areAllRead } = readWithdrawals(raw)
	const [accessListHash, author] = [hash(raw.blockAccessListHash), address(raw.miner)]
	return {
		number,
		hash: blockHash,
		parentHash,
		timestampS: timestampS ?? 0n,
		...(timestampS === null && { hasNoTime: true as const }),
		txHashes,
		difficulty: quantity(raw.difficulty),
		receiptsRoot: rootOf(raw.receiptsRoot),
		logsBloom: bloomIn(raw),
		withdrawalsRoot: rootOf(raw.withdrawalsRoot),
		...(withdrawals.length > 0 && { withdrawals }),
		...(!areAllRead && { hasUnreadWithdrawals: true as const }),
		// EIP-7685 came with the same fork as EIP-7702.
		...(hash(raw.requestsHash) !== null && { takesAuthorisations: true as const }),
		...(accessListHash !== null && { accessListHash, ...(author !== null && { author }) }),
	}
}

const GWEI = 10n ** 9n

/**
 * The withdrawals of a block (EIP-4895): amounts come in gwei. One address may be paid several times in one block. One
 * that lacks its index, validator, address or amount is left out: it is no reason to refuse the block. A list that is
 * null or missing is read as empty, unless the header names another one.
 */
export function readWithdrawals({ withdrawals: given, withdrawalsRoot }: Json) {
	const all: readonly unknown[] = Array.isArray(given) ? given : []
	const withdrawals = all.flatMap((raw): readonly Withdrawal[] => {
		if (!isObject(raw)) return []
		const [to, amount] = [address(raw.address), quantity(raw.amount)]
		const [index, validatorIndex] = [quantity(raw.index), quantity(raw.validatorIndex)]
		if (to === null || amount === null || index === null || validatorIndex === null) return []
		return [{ index, validatorIndex, address: to, wei: amount * GWEI }]
	})
	const root = rootOf(withdrawalsRoot)
	const isNone = (given === null || given === undefined) && (root === null || root === emptyRoot)
	const isList = Array.isArray(given) || isNone
	return { withdrawals, areAllRead: isList && withdrawals.length === all.length }
}

/** Some nodes give whole transactions although hashes were asked for. */
function txHashIn(entry: unknown): Hash | null {
	return hash(isObject(entry) ? entry.hash : entry)
}

/** A list with an entry that names no transaction is as good as none. */
function isTxList(transactions: unknown): transactions is readonly unknown[] {
	return Array.isArray(transactions) && transactions.every((entry) => txHashIn(entry) !== null)
}

/** Whether gas or a root says that there are transactions, or nothing says that there are none, and none is listed. */
export function lacksTransactions({ transactions, transactionsRoot, gasUsed }: Json): boolean {
	const isList = isTxList(transactions)
	if (isList && transactions.length > 0) return false
	const [root, gas] = [rootOf(transactionsRoot), quantity(gasUsed)]
	if ((gas ?? 0n) > 0n || (root !== null && root !== emptyRoot)) return true
	return !isList && root === null && gas === null
}

/**
 * A list that is empty against gas or root was completed before (`blocks/txLists.ts`). Null: there is none, and neither
 * gas nor root says that the block is empty.
 */
function listIn(block: Json): readonly unknown[] | null {
	const { transactions } = block
	if (isTxList(transactions)) return transactions
	return lacksTransactions(block) ? null : []
}

function readTxHashes(block: Json, reading: Reading): readonly Hash[] {
	const transactions = listIn(block)
	if (transactions === null) throw malformed(reading, 'a block has no list of transactions')
	return transactions.flatMap((entry) => txHashIn(entry) ?? [])
}

/** Reads a block that was asked for by number; null where the node has none. */
export function readBlockAt(raw: unknown, number: bigint, reading: Reading): Header | null {
	const block = readBlock(raw, reading)
	if (block !== null && block.number !== number) {
		throw malformed(reading, `block ${block.number} came where ${number} was asked for`)
	}
	return block
}

export interface Receipt {
	readonly block: BlockRef
	/** Null where a receipt has a state root instead, as before Byzantium. */
	readonly succeeded: boolean | null
}

/** Reads the answer to `eth_getTransactionReceipt`; null where the transaction is in no block. */
export function readReceipt(raw: unknown, txHash: Hash | null, reading: Reading): Receipt | null {
	if (raw === null) return null
	if (!isObject(raw)) throw malformed(reading, 'a receipt is not an object')
	const own = hash(raw.transactionHash)
	if (own !== null && own !== txHash) throw malformed(reading, `a receipt of ${own} came where ${txHash} was asked for`)
	const number = quantity(raw.blockNumber)
	const blockHash = hash(raw.blockHash)
	if (number === null || blockHash === null) throw malformed(reading, 'a receipt lacks its block')
	// Old Nethermind and Harmony write `status: 0x0` beside the root of a transaction that succeeded (docs/nodes.md).
	const status = hash(raw.root) === null ? quantity(raw.status) : null
	return { block: { number, hash: blockHash }, succeeded: status === null ? null : status !== 0n }
}
