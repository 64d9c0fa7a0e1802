/**
 * What the receipts of a block prove, checked against its header. A hard fork may encode receipts in a way that this
 * version does not know: then no root can be made, and a chain that had one would stand still until somebody upgrades.
 * So such receipts are believed, and said to be not proved (docs/nodes.md, "A new encoding of receipts").
 */

import type { TimeSlices } from '../../base/timeSlices.js'
import type { Hex } from '../../model/glossary.js'
import type { Log as Logger } from '../../model/ports.js'
import { type Header, hexOf, malformed, quantity, type Reading } from '../wire.js'
import { bloomBytes, bloomOf } from './bloom.js'
import { fitsRoot } from './receiptsRoot.js'
import { hasStateSync, isRootKnown } from './rootChains.js'
import type { Log, LogReceipt } from './wireLogs.js'

/**
 * `receipts`: they make the root. `bloom`: their logs make the very bloom, counted without a hole, where nobody knows
 * how the chain makes its root. `new`: their logs fit the bloom, but the root, which was known, cannot be made. `none`:
 * nothing in the header says that a log is missing, and nothing that none is.
 */
export type ReceiptProof = 'receipts' | 'bloom' | 'new' | 'none'

/** Throws `malformed` where the receipts contradict the header. */
export type ProveReceipts = (
	receipts: readonly LogReceipt[],
	block: Header,
	reading: Reading,
	slices: TimeSlices,
) => Promise<ReceiptProof>

/**
 * Ethereum's (EIP-2718 to EIP-7702); Arbitrum's, before Nitro too; Celo's fees in tokens; deposits of the OP stack;
 * Polygon's state sync.
 */
const KNOWN_TYPES: ReadonlySet<bigint> = new Set(
	[0, 1, 2, 3, 4, ...[100, 101, 102, 104, 105, 106, 120], 123, 126, 127].map(BigInt),
)
/** Different blocks that do not make their root, and none between them that does: an upgrade, and no slip. */
const MANY = 8

export function createReceiptProof({
	chainId,
	log,
}: {
	readonly chainId: number
	readonly log: Logger
}): ProveReceipts {
	let isKnown = isRootKnown(chainId)
	const failed = new Set<bigint>()
	const said = new Set<string>()

	/** Once for what it is. */
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

	return async (receipts, block, reading, slices) => {
		const { receiptsRoot: root, logsBloom: bloom } = block
		const named = root && { root, hasStateSync: hasStateSync(chainId) }
		const fits = named && (await fitsRoot(receipts, named, slices))
		if (fits === true) {
			isKnown = true
			failed.clear()
			return 'receipts'
		}
		const made = await bloomOf(logsOf(receipts), slices)
		const isWhole = bloom === made && (hasStateSync(chainId) || (await isCounted(receipts, slices)))
		const types = unknownTypes(receipts)
		if (fits === false && isKnown) {
			if (isWhole && types.length === 0) failed.add(block.number)
			if (!isWhole || (types.length === 0 && failed.size < MANY)) {
				throw malformed(reading, `its receipts of block ${block.number} are not those that the header names`)
			}
		}
		if (bloom !== null && !isWithin(bloom, made)) {
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

/** A log that is missing leaves its bits unset; some chains fill no bloom at all, which says nothing. */
function isWithin(bloom: Hex, other: Hex): boolean {
	const bits = bloomBytes(other)
	return bloomBytes(bloom).every((byte, at) => (byte & ~(bits[at] ?? 0)) === 0)
}

async function isCounted(receipts: readonly LogReceipt[], slices: TimeSlices): Promise<boolean> {
	let next = 0n
	for (const { index } of logsOf(receipts)) {
		if (slices.isOver()) await slices.next()
		if (index !== next++) return false
	}
	return true
}
