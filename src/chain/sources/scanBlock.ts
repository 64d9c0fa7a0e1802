import type { AddressSet } from '../../model/chain.js'
import type { Hash } from '../../model/glossary.js'
import { type Sieve, sieveOf } from '../traces/addressBitmap.js'
import { checkTree, groupRows } from '../traces/assemble.js'
import { checkForm, type FormedRow, openRow, type Row, readRow } from '../traces/parityRows.js'
import { type Header, hash, malformed, quantity, type Reading, unsettled } from '../wire.js'
import type { Hit } from './receipts.js'

export interface ScannedBlock {
	/** Transactions in which a frame touches the addresses, whole; and the rewards, if one does. */
	readonly hits: readonly Hit[]
	/** Transactions of the header that have no root row. */
	readonly missing: readonly Hash[]
	/** How many rows were looked at. */
	readonly rows: number
}

/**
 * Looks at every row of a block, and decodes those of the transactions that touch the addresses. Everything that goes by
 * is a row of others, so the first look makes nothing: it costs a fraction of what parsing the JSON did.
 */
export function scanBlock(raw: unknown, block: Header, addresses: AddressSet, reading: Reading): ScannedBlock {
	if (!Array.isArray(raw)) throw malformed(reading, `the result is ${raw === null ? 'null' : 'not a list'}`)
	const number = Number(block.number)
	const isAsked = sieveOf(addresses)
	const roots = new Set<Hash>()
	const touched = new Set<Hash | null>()
	const owners: (Hash | null)[] = []
	let lastText: unknown = null
	let lastHash: Hash | null = null
	for (let index = 0; index < raw.length; index++) {
		const row = checkForm(raw[index], index, reading)
		if (row.blockNumber !== number || row.blockHash !== block.hash) checkPlace(row, index, block, reading)
		if (row.type === 'reward') {
			owners.push(null)
			if (isAsked(row.action.author)) touched.add(null)
			continue
		}
		// The rows of a transaction come one after the other.
		if (row.transactionHash !== lastText || lastHash === null) {
			lastText = row.transactionHash
			lastHash = hash(lastText)
			if (lastHash === null) throw malformed(reading, `row ${index} lacks its transaction`)
		}
		owners.push(lastHash)
		const path = row.traceAddress
		if (Array.isArray(path) && path.length === 0) roots.add(lastHash)
		if (mayTouch(row, isAsked)) touched.add(lastHash)
	}
	return {
		hits: touched.size === 0 ? [] : hitsOf(raw, owners, touched, block, reading),
		missing: block.txHashes.filter((txHash) => !roots.has(txHash)),
		rows: raw.length,
	}
}

function hitsOf(
	raw: readonly unknown[],
	owners: readonly (Hash | null)[],
	touched: ReadonlySet<Hash | null>,
	block: Header,
	reading: Reading,
): readonly Hit[] {
	const rows: Row[] = []
	for (const [index, owner] of owners.entries()) {
		if (touched.has(owner)) rows.push(readRow(openRow(raw[index], index, reading), index, reading))
	}
	return groupRows(rows).map((group) => {
		if (group.txHash !== null) checkTree(group.rows, group.txHash, block.hash, reading)
		return { group, block }
	})
}

/** The rule of `partiesOf`, without making anything. What cannot be read does not pass for something that touches nobody. */
function mayTouch({ type, action, result }: FormedRow, isAsked: Sieve): boolean {
	switch (type) {
		case 'call':
			if (!isAddressLike(action.from) || !isAddressLike(action.to)) return true
			return isAsked(action.from) || isAsked(action.to)
		case 'create':
		case 'create2':
			if (!isAddressLike(action.from)) return true
			// Also of one that failed: it is decoded then, and found to have made nothing.
			return isAsked(action.from) || isAsked((result as FormedRow['action'] | null)?.address)
		case 'suicide':
		case 'selfdestruct':
			return isAsked(action.address ?? action.from) || isAsked(action.refundAddress ?? action.to)
		default:
			return isAsked(action.from) || isAsked(action.to)
	}
}

function isAddressLike(value: unknown): boolean {
	return typeof value === 'string' && value.length === 42
}

function checkPlace({ blockNumber, blockHash }: FormedRow, index: number, block: Header, reading: Reading): void {
	if (quantity(blockNumber) !== block.number) {
		throw malformed(reading, `row ${index} is of another block than ${block.number}, which was asked for`)
	}
	if (hash(blockHash) === block.hash) return
	throw unsettled(reading, `row ${index} of block ${block.number} carries another hash than its header`)
}
