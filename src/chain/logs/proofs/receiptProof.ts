/**
 * The room checks logs against the header of their block: its bloom, and the root of its receipts (here).
 *
 * A hard fork may encode receipts in a way that this version does not know. Then no root can be computed, and scanning
 * would stop until an upgrade. So such receipts are accepted and reported as not proved (docs/nodes.md, "A new encoding
 * of receipts").
 */

import { isSliceOver, nextSlice } from '../../../base/waits/slices.js'
import type { Hex } from '../../../model/glossary.js'
import type { Log as Logger } from '../../../model/ports.js'
import { bloomIn, type Header, hexOf, malformed, quantity, type Reading } from '../../wire/wire.js'
import { bloomBytes, bloomOf } from './bloom.js'
import { fitsRoot } from './receiptsRoot.js'
import { hasStateSync, isRootKnown } from './rootChains.js'
import type { Log, LogReceipt } from './wireLogs.js'

/**
 * `receipts`: they make the root. `bloom`: how the chain makes its root is not known, but the logs make exactly the
 * header's bloom and are numbered without a gap. `new`: the logs fit the bloom, but the root, which could be made
 * before, cannot be made. `none`: the header neither shows that a log is missing nor that none is.
 */
export type ReceiptProof = 'receipts' | 'bloom' | 'new' | 'none'

/** Throws `malformed` where the receipts contradict the header. */
export type ProveReceipts = (receipts: readonly LogReceipt[], block: Header, reading: Reading) => Promise<ReceiptProof>

/**
 * Ethereum (EIP-2718 to EIP-7702); Arbitrum, also before Nitro; fees in tokens of Celo; deposits of the OP stack; state
 * sync of Polygon.
 */
const KNOWN_TYPES: ReadonlySet<bigint> = new Set(
	[0, 1, 2, 3, 4, ...[100, 101, 102, 104, 105, 106, 120], 123, 126, 127].map(BigInt),
)
/** After 8 different blocks that do not make their root, with none between that does, it is an upgrade. */
const MANY = 8
/** What an endpoint contradicts for a minute, in at least 4 readings and none that fits, proves nothing there. */
const LASTING_MS = 60_000
const LEAST_REFUSED = 4

interface Blooms {
	/** A bloom with bits was seen that is exactly that of its logs. */
	fit: boolean
	/** Since a block was last proved. */
	refused: number
	sinceMs: number
	/** Receipts that contradict their header are accepted, and not proved. */
	areDropped: boolean
}

export function createReceiptProof({
	chainId,
	clock,
	log,
}: {
	readonly chainId: number
	readonly clock: () => number
	readonly log: Logger
}): ProveReceipts {
	let isKnown = isRootKnown(chainId)
	const failed = new Set<bigint>()
	const said = new Set<string>()
	const endpoints = new Map<string, Blooms>()

	function bloomsOf(endpoint: string): Blooms {
		const own = endpoints.get(endpoint) ?? { fit: false, refused: 0, sinceMs: 0, areDropped: false }
		endpoints.set(endpoint, own)
		return own
	}

	/** Whether receipts are accepted although their header contradicts them; else it is counted. */
	function isDropped(own: Blooms, isPlain: boolean, block: Header, { endpoint }: Reading): boolean {
		if (own.areDropped) return true
		if (own.refused++ === 0) own.sinceMs = clock()
		const sinceMs = clock() - own.sinceMs
		// The clock may have been set back.
		if (sinceMs < 0) own.sinceMs = clock()
		own.areDropped = isPlain || (own.refused >= LEAST_REFUSED && sinceMs >= LASTING_MS)
		if (!own.areDropped) return false
		log.warn(
			{ endpoint, block: block.number },
			'headers contradict whole receipts: here they prove nothing, and logs of such blocks are believed, not proved',
		)
		return true
	}

	/** Warns once for each set of types. */
	function say(types: readonly string[], { number }: Header): void {
		const key = types.join()
		if (said.has(key) || said.size >= MANY) return
		said.add(key)
		log.warn(
			{ block: number, ...(types.length > 0 && { types }) },
			'receipts cannot be checked against the root in their header, as if they were encoded in a new way: they are ' +
				'believed, not proved; look for a newer version',
		)
	}

	return async (receipts, block, reading) => {
		const { receiptsRoot: root, logsBloom: bloom } = block
		const named = root && { root, hasStateSync: hasStateSync(chainId) }
		const fits = named && (await fitsRoot(receipts, named))
		const own = bloomsOf(reading.endpoint)
		if (fits === true) {
			isKnown = true
			failed.clear()
			own.refused = 0
			// Roots of empty blocks fit on every chain.
			if (receipts.length > 0) own.areDropped = false
			return 'receipts'
		}
		const made = await bloomOf(logsOf(receipts))
		const isWhole = bloom === made && (hasStateSync(chainId) || (await isCounted(receipts)))
		const types = unknownTypes(receipts)
		if (isWhole && receipts.some(({ logs }) => logs.length > 0)) {
			own.fit = true
			if (!(fits === false && isKnown)) own.refused = 0
		}
		if (fits === false && isKnown) {
			if (isWhole && types.length === 0) failed.add(block.number)
			if (!isWhole || (types.length === 0 && failed.size < MANY)) {
				if (isDropped(own, false, block, reading)) return 'none'
				throw malformed(reading, `its receipts of block ${block.number} are not those that the header names`)
			}
		}
		if (bloom !== null && !isWithin(bloom, made)) {
			const isPlain = !own.fit && (await areConsistent(receipts))
			if (isDropped(own, isPlain, block, reading)) return 'none'
			throw malformed(reading, `its receipts of block ${block.number} lack logs that the header names`)
		}
		if (named !== null && isKnown && !receipts.some(isClassic)) {
			say(types, block)
			return 'new'
		}
		return isWhole ? 'bloom' : 'none'
	}
}

/** Of Arbitrum before Nitro, which made its roots in another way. */
function isClassic({ raw: { type } }: LogReceipt): boolean {
	return quantity(type) === 120n
}

function unknownTypes(receipts: readonly LogReceipt[]): readonly string[] {
	const types = new Set(
		receipts.map(({ raw: { type } }) => (type === undefined || type === null ? 0n : quantity(type))),
	)
	return [...types].flatMap((type) =>
		type !== null && KNOWN_TYPES.has(type) ? [] : [type === null ? '?' : hexOf(type)],
	)
}

function* logsOf(receipts: readonly LogReceipt[]): Generator<Log> {
	for (const { logs } of receipts) yield* logs
}

/** Numbered without a gap, and each with exactly the logs that its own bloom names: they lack nothing by themselves. */
async function areConsistent(receipts: readonly LogReceipt[]): Promise<boolean> {
	for (const { raw, logs } of receipts) {
		const bloom = bloomIn(raw)
		if (bloom === null ? logs.length === 0 : bloom !== (await bloomOf(logs))) return false
	}
	return isCounted(receipts)
}

/** A missing log leaves bits of the header's bloom unset. Some chains leave the bloom empty, which shows nothing. */
function isWithin(bloom: Hex, other: Hex): boolean {
	const bits = bloomBytes(other)
	return bloomBytes(bloom).every((byte, at) => (byte & ~(bits[at] ?? 0)) === 0)
}

async function isCounted(receipts: readonly LogReceipt[]): Promise<boolean> {
	let next = 0n
	for (const { index } of logsOf(receipts)) {
		if (isSliceOver()) await nextSlice()
		if (index !== next++) return false
	}
	return true
}
