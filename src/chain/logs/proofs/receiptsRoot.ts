/** Computes the root of the receipts that a header names (EIP-2718 for typed receipts). */

import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import type { Hash as HashText, Hex } from '../../../model/glossary.js'
import { listRootInSlices } from '../../wire/listRoot.js'
import { bytesOf, itemOf, rlpList, shortHex } from '../../wire/rlpWords.js'
import { bloomIn, hash, type Json, quantity } from '../../wire/wire.js'
import { bloomOf } from './bloom.js'
import type { Log, LogReceipt } from './wireLogs.js'

/** Null where a receipt lacks a field that is encoded. `bytesInstead`: bytes to use for a receipt; null: encode it. */
export async function receiptsRootOf(
	receipts: readonly LogReceipt[],
	bytesInstead: (receipt: LogReceipt) => Uint8Array | null = () => null,
): Promise<HashText | null> {
	const values: Uint8Array[] = []
	for (const receipt of receipts) {
		const value = bytesInstead(receipt) ?? (await encodeReceipt(receipt))
		if (value === null) return null
		values.push(value)
		if (isSliceOver()) await nextSlice()
	}
	return listRootInSlices(values)
}

/**
 * Whether the receipts of a block make its header's root; null where a receipt lacks a field that is encoded.
 * `hasStateSync`: the last receipt may be Polygon's state sync, which has no sender and costs no gas. Bor leaves it out
 * of the root, or encodes nothing but its type there (docs/nodes.md, "Roots of receipts").
 */
export async function fitsRoot(
	receipts: readonly LogReceipt[],
	{ root, hasStateSync }: { readonly root: HashText; readonly hasStateSync: boolean },
): Promise<boolean | null> {
	const all = await receiptsRootOf(receipts)
	const last = receipts.at(-1)
	if (all === null) return null
	if (all === root || !hasStateSync || last === undefined || !isStateSync(last)) return all === root
	if ((await receiptsRootOf(receipts.slice(0, -1))) === root) return true
	return (await receiptsRootOf(receipts, (receipt) => (receipt === last ? STATE_SYNC : null))) === root
}

const STATE_SYNC = Uint8Array.of(0x7f)

function isStateSync({ sender, raw }: LogReceipt): boolean {
	return sender !== null && BigInt(sender) === 0n && quantity(raw.gasUsed) === 0n
}

/** Deposits of the OP stack: their receipts have two more fields since Canyon. */
const DEPOSIT = 126n
/** Transactions of Celo whose fee is paid in a token (CIP-64): their receipts have the base fee in that token. */
const CELO_FEE = 123n
/** Arbitrum before Nitro: its receipts did not make a root in this way. */
const ARBITRUM_CLASSIC = 120n

async function encodeReceipt({ raw, logs }: LogReceipt): Promise<Uint8Array | null> {
	const type = raw.type === undefined || raw.type === null ? 0n : quantity(raw.type)
	const outcome = outcomeOf(raw)
	const gas = quantity(raw.cumulativeGasUsed)
	const bloom = bloomIn(raw) ?? (await bloomOf(logs))
	if (type === null || type > 127n || type === ARBITRUM_CLASSIC || outcome === null || gas === null) return null
	const more: Hex[] = []
	if (type === DEPOSIT && raw.depositReceiptVersion !== undefined && raw.depositReceiptVersion !== null) {
		for (const field of [raw.depositNonce, raw.depositReceiptVersion]) {
			const number = quantity(field)
			if (number === null) return null
			more.push(shortHex(number))
		}
	}
	if (type === CELO_FEE && raw.baseFee !== undefined && raw.baseFee !== null) {
		const number = quantity(raw.baseFee)
		if (number === null) return null
		more.push(shortHex(number))
	}
	// Joined in steps, because joining a hundred thousand at once takes long.
	const joined: Uint8Array[] = []
	let written: Uint8Array[] = []
	for (const log of logs) {
		if (isSliceOver()) await nextSlice()
		written.push(encodeLog(log))
		if (written.length < STEP_LOGS) continue
		joined.push(Buffer.concat(written))
		written = []
	}
	const fields = rlpList([
		...[outcome, shortHex(gas), bloom].map(itemOf),
		rlpList([...joined, ...written]),
		...more.map(itemOf),
	])
	return type === 0n ? fields : Buffer.concat([bytesOf(type), fields])
}

const STEP_LOGS = 500

/** A state root before Byzantium, the status since then. */
function outcomeOf({ root, status }: Json): Hex | null {
	const state = hash(root)
	if (state !== null) return state
	const number = quantity(status)
	return number === null ? null : shortHex(number)
}

function encodeLog({ address, topics, data }: Log): Uint8Array {
	return rlpList([itemOf(address), rlpList(topics.map(itemOf)), itemOf(data)])
}
