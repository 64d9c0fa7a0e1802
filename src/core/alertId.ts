import type { Address, Hash } from '../model/glossary.js'
import type { Kind } from '../model/watch.js'
import { allKinds } from './kinds.js'

/** The parts of an alert's id; docs/delivery.md has their meaning. */
export interface AlertId {
	readonly chainId: number
	/** Transaction or block hash, number of a block, `<from>-<to>` of blocks, or `withdrawal`. */
	readonly anchor: string
	readonly place: string
	readonly kind: Kind
	readonly address: Address
}

const shape = /^(\d{1,15}):([\da-z-]{1,80}):([\da-z_]{1,200}):([a-z]{1,20}):(0x[\da-f]{40})$/

/** Null where the text is none, whatever its case. */
export function readAlertId(text: string): AlertId | null {
	const [, chainId, anchor = '', place = '', word, address] = shape.exec(text.toLowerCase()) ?? []
	const kind = allKinds.find((one) => one === word)
	if (chainId === undefined || kind === undefined) return null
	const id = { chainId: Number(chainId), anchor, place, kind, address: address as Address }
	return anchors[kind].test(anchor) ? id : null
}

const hash = /^0x[\da-f]{64}$/
const number = /^\d{1,15}$/
const anchors: Readonly<Record<Kind, RegExp>> = {
	transfer: hash,
	deployment: hash,
	token: hash,
	withdrawal: /^withdrawal$/,
	delegation: /^(0x[\da-f]{64}|\d{1,15})$/,
	income: hash,
	balance: number,
	unexplained: /^\d{1,15}-\d{1,15}$/,
}

/** The transaction whose frames or logs show it; null where it is about a block, or what the state shows. */
export function transactionOf({ anchor, place, kind }: AlertId): Hash | null {
	const isOne = hash.test(anchor) && kind !== 'income' && kind !== 'delegation' && !place.startsWith('reward_')
	return isOne ? (anchor as Hash) : null
}
