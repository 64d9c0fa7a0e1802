import { allKinds, allRecords, recordOf, seenInOf } from '../../kinds/all.js'
import type { Happened } from '../../kinds/record.js'
import type { Address, Hash } from '../../model/glossary.js'
import type { Kind } from '../../model/kind.js'

/** The parts of an alert's id; docs/delivery.md has their meaning. */
export interface AlertId {
	readonly chainId: number
	/** Transaction or block hash, number of a block, `<from>-<to>` of blocks, or a word. */
	readonly anchor: string
	readonly place: string
	readonly kind: Kind
	readonly address: Address
	/** Of the later one of two blocks that hold the transaction: its number. */
	readonly again?: bigint
}

/** Transactions that also stand in an earlier block of the chain, by `occurrenceOf`. */
export type Repeats = ReadonlySet<string>

export const noRepeats: Repeats = new Set()

export function occurrenceOf(txHash: string, blockNumber: bigint): string {
	return `${txHash} ${blockNumber}`
}

/**
 * `<chainId>:<anchor>:<place>:<kind>:<address>`: the same on every run and every machine; no full stop in it. The place
 * of a repeated transaction ends with `~<blockNumber>`.
 */
export function alertId(chainId: number, event: Happened, address: Address, repeats = noRepeats): string {
	const [anchor, place] = recordOf(event.kind).idParts(event)
	const { number } = event.block
	const again = repeats.has(occurrenceOf(anchor, number)) ? `~${number}` : ''
	return `${chainId}:${anchor}:${place}${again}:${event.kind}:${address}`
}

const shape = /^(\d{1,15}):([\da-z-]{1,80}):([\da-z_-]{1,200})(?:~(\d{1,15}))?:([a-z]{1,20}):(0x[\da-f]{40})$/
const anchors = new Map(allRecords.map(({ kind, anchors: all }) => [kind, new RegExp(`^(${all.join('|')})$`)] as const))

/** Null if the text is not an alert id. Case does not matter. */
export function readAlertId(text: string): AlertId | null {
	const [, chainId, anchor = '', place = '', again, word, address] = shape.exec(text.toLowerCase()) ?? []
	const kind = allKinds.find((one) => one === word)
	if (chainId === undefined || kind === undefined) return null
	const repeated = again !== undefined && { again: BigInt(again) }
	const id = { chainId: Number(chainId), anchor, place, kind, address: address as Address, ...repeated }
	return anchors.get(kind)?.test(anchor) === true ? id : null
}

/** The transaction whose frames or logs show the event; null if the alert is about a block or comes from the state. */
export function transactionOf({ anchor, place, kind }: AlertId): Hash | null {
	const seenIn = seenInOf(kind, place)
	const isForeignCode = kind === 'code' && place !== 'code'
	const isTraced = seenIn === 'frames' || seenIn === 'calls' || seenIn === 'logs' || isForeignCode
	return isTraced && !place.startsWith('reward_') ? (anchor as Hash) : null
}

/** The place in an alert id. */
export function placeOfId(id: string): string {
	return (id.split(':')[2] ?? '').replace(/~.*/, '')
}

/** The block number that the place of a repeated transaction ends with; null: it is none. */
export function againOf(id: string): bigint | null {
	const [, again] = /^[^~]*~(\d+):/.exec(id) ?? []
	return again === undefined ? null : BigInt(again)
}

/** The watched address that an alert id ends with. */
export function addressOfId(id: string): Address {
	return id.slice(id.lastIndexOf(':') + 1) as Address
}
