/**
 * Block access lists (EIP-7928) by `eth_getBlockAccessList`, checked against the hash in the header: a list that makes
 * another hash is wrong or incomplete. The list is encoded as RLP in the order that the standard demands, whatever
 * order the answer has:
 * [address, [[slot, [[index, value]]]], [slot], [[index, balance]], [[index, nonce]], [[index, code]]].
 */

import * as Keccak from 'ox/Hash'
import * as Rlp from 'ox/Rlp'
import { RpcError } from '../../errors.js'
import type { BlockChanges } from '../../model/books.js'
import type { Block } from '../../model/chain.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { Rpc } from '../rpc/rpc.js'
import { delegateIn } from '../wire/delegate.js'
import { shortHex } from '../wire/rlpWords.js'
import { address, hexBytes, isObject, type Json, malformed, quantity, type Reading, smallNumber } from '../wire/wire.js'

const ACCESS_LIST_METHOD = 'eth_getBlockAccessList'

interface Account {
	readonly address: Address
	readonly slots: readonly { readonly slot: bigint; readonly changes: readonly Change[] }[]
	readonly reads: readonly bigint[]
	readonly balances: readonly Change[]
	readonly nonces: readonly Change[]
	readonly codes: readonly { readonly index: number; readonly code: Hex }[]
}

interface Change {
	/** 0: before the transactions; from 1: the transactions; their number plus 1: after them. */
	readonly index: number
	readonly value: bigint
}

/** What the block changes. Throws RpcError: `malformed` if it makes another hash than the header, `no-data`. */
export async function readAccessList(rpc: Rpc, block: Block, signal: AbortSignal): Promise<BlockChanges> {
	const reading: Reading = { endpoint: rpc.endpoint, method: ACCESS_LIST_METHOD }
	const raw = await rpc.call(ACCESS_LIST_METHOD, [block.hash], signal)
	if (raw === null)
		throw new RpcError(`${rpc.endpoint} has no access list of block ${block.number}`, { ...reading, kind: 'no-data' })
	return changesIn(raw, block, reading)
}

/** Pure. Throws RpcError `malformed`. */
export function changesIn(raw: unknown, { number, accessListHash, txHashes }: Block, reading: Reading): BlockChanges {
	const accounts = readAccounts(raw, reading)
	if (accessListHash === undefined || hashOf(accounts) !== accessListHash)
		throw malformed(reading, `the access list of block ${number} is not the one that its header names`)
	return {
		transactions: txHashes.length,
		balances: new Map(
			accounts.flatMap((account) =>
				account.balances.length === 0
					? []
					: [[account.address, byIndex(account.balances).map(({ index, value }) => ({ index, wei: value }))] as const],
			),
		),
		codes: new Map(
			accounts.flatMap((account) => {
				const codes = byIndex(account.codes).map(({ index, code }) => {
					return { index, delegate: delegateIn(code), isEmpty: code === '0x' }
				})
				return codes.length === 0 ? [] : [[account.address, codes] as const]
			}),
		),
	}
}

/** The hash of the list of accounts, each in the order that EIP-7928 demands. */
function hashOf(accounts: readonly Account[]): Hash {
	const changes = (list: readonly Change[]) => byIndex(list).map(({ index, value }) => [word(index), shortHex(value)])
	const encoded = accounts
		.toSorted((a, b) => (a.address < b.address ? -1 : 1))
		.map(({ address, slots, reads, balances, nonces, codes }) => [
			address,
			slots.toSorted((a, b) => (a.slot < b.slot ? -1 : 1)).map((one) => [shortHex(one.slot), changes(one.changes)]),
			reads.toSorted((a, b) => (a < b ? -1 : 1)).map(shortHex),
			changes(balances),
			changes(nonces),
			byIndex(codes).map(({ index, code }) => [word(index), code]),
		])
	return Keccak.keccak256(Rlp.fromHex(encoded as never, { as: 'Bytes' }), { as: 'Hex' })
}

function byIndex<T extends { readonly index: number }>(list: readonly T[]): readonly T[] {
	return list.toSorted((a, b) => a.index - b.index)
}

function word(index: number): Hex {
	return shortHex(BigInt(index))
}

function readAccounts(raw: unknown, reading: Reading): readonly Account[] {
	return listOf(raw, reading).map((entry): Account => {
		const who = address(entry.address)
		if (who === null) throw malformed(reading, 'an account without its address')
		const changesOf = (list: unknown) =>
			listOf(list, reading).map((one): Change => {
				const value = quantity(one.value ?? one.postValue ?? one.postBalance ?? one.postNonce)
				if (value === null) throw malformed(reading, `a change of ${who} without its value`)
				return { index: indexOf(one, reading), value }
			})
		return {
			address: who,
			slots: listOf(entry.storageChanges, reading).map((one) => {
				const slot = quantity(one.key ?? one.slot)
				if (slot === null) throw malformed(reading, `a slot of ${who} that is no number`)
				return { slot, changes: changesOf(one.changes ?? one.slotChanges) }
			}),
			reads: words(entry.storageReads, reading),
			balances: changesOf(entry.balanceChanges),
			nonces: changesOf(entry.nonceChanges),
			codes: listOf(entry.codeChanges, reading).map((one) => {
				const code = hexBytes(one.code ?? one.newCode)
				if (code === null) throw malformed(reading, `code of ${who} that is none`)
				return { index: indexOf(one, reading), code }
			}),
		}
	})
}

function indexOf(one: Json, reading: Reading): number {
	const index = smallNumber(one.index ?? one.blockAccessIndex ?? one.txIndex)
	if (index === null) throw malformed(reading, 'a change without its index')
	return index
}

function words(raw: unknown, reading: Reading): readonly bigint[] {
	if (raw === undefined || raw === null) return []
	if (!Array.isArray(raw)) throw malformed(reading, 'reads that are no list')
	return raw.map((entry: unknown) => {
		const slot = quantity(entry)
		if (slot === null) throw malformed(reading, 'a slot that is no number')
		return slot
	})
}

function listOf(raw: unknown, reading: Reading): readonly Json[] {
	if (raw === undefined || raw === null) return []
	if (!Array.isArray(raw) || !raw.every(isObject)) throw malformed(reading, 'what should be a list of objects is none')
	return raw
}
