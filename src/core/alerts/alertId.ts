import { recordOf } from '../../kinds/all.js'
import type { Happened } from '../../kinds/record.js'
import type { Address } from '../../model/glossary.js'

/** Transactions that also stand in an earlier block of the chain, by `occurrenceOf`. */
export type Repeats = ReadonlySet<string>

const noRepeats: Repeats = new Set()

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
