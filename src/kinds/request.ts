/** The watch asks the consensus layer for a withdrawal, an exit or a consolidation (EIP-7002, EIP-7251). */

import type { AlertData, FrameEvent } from '../model/alert.js'
import type { Frame } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import { requestFields } from '../model/ownFields.js'
import { fact } from './fact.js'
import { contentOf, depthInWords, frameFields, ofFrames } from './frames.js'
import { amountFacts, partyFacts, watchName } from './phrases.js'
import type { KindRecord } from './record.js'

export interface Asked {
	readonly request: NonNullable<AlertData['request']>
	/** Public keys of validators, 48 bytes each. */
	readonly sourcePubkey: string
	/** Null unless it is a consolidation. */
	readonly targetPubkey: string | null
	/** Null unless it is a withdrawal of an amount. */
	readonly amountGwei: bigint | null
}

export interface Requested extends Omit<FrameEvent, 'kind'>, Asked {
	readonly kind: 'request'
}

/** EIP-7002: 48 bytes of public key and 8 of the amount in Gwei. */
const withdrawals = '0x00000961ef480eb55e80d19ad83579a64c007002'
/** EIP-7251: two public keys. */
const consolidations = '0x0000bbddc7ce488642fb579f8b00f3a590007251'
const keyDigits = 2 * 48

/** The contracts that take requests, in lower case. */
export const requestContracts: ReadonlySet<Address> = new Set<Address>([withdrawals, consolidations])

/** What a call asks for; null: nothing. An input of another length fails, or reads the fee. */
export function askedBy({ type, callType, to, input }: Frame): Asked | null {
	if (type !== 'call' || callType !== 'call' || input === undefined) return null
	const hex = input.slice(2)
	const sourcePubkey = `0x${hex.slice(0, keyDigits)}`
	if (to === withdrawals && hex.length === keyDigits + 16) {
		const amountGwei = BigInt(`0x${hex.slice(keyDigits)}`)
		return amountGwei === 0n
			? { request: 'exit', sourcePubkey, targetPubkey: null, amountGwei: null }
			: { request: 'withdrawal', sourcePubkey, targetPubkey: null, amountGwei }
	}
	if (to !== consolidations || hex.length !== 2 * keyDigits) return null
	const targetPubkey = `0x${hex.slice(keyDigits)}`
	const request = targetPubkey === sourcePubkey ? 'compounding' : 'consolidation'
	return { request, sourcePubkey, targetPubkey, amountGwei: null }
}

export const request: KindRecord<Requested> = {
	...ofFrames,
	kind: 'request',
	hasDirection: false,
	content: ({ request: what, sourcePubkey, targetPubkey, amountGwei }) =>
		contentOf([what, sourcePubkey, targetPubkey, amountGwei]),
	announcedContent: ({ request: what, sourcePubkey, targetPubkey, amountGwei }) =>
		contentOf([what, sourcePubkey, targetPubkey, amountGwei]),
	sides: ({ from }) => (from === null ? [] : [{ address: from, direction: 'out' }]),
	refusal: () => null,
	fields: (event, view) => ({
		...frameFields(event, view),
		request: event.request,
		sourcePubkey: event.sourcePubkey,
		targetPubkey: event.targetPubkey,
		amountGwei: event.amountGwei === null ? null : String(event.amountGwei),
	}),
	frameTypes: ['call'],
	own: requestFields,
	noun: 'a request to the consensus layer',
	chosen: () => 'requests to the consensus layer',
	alarm: { rank: 4, marks: ['REQUEST'], markOf: () => 'REQUEST' },
	sentence: (data) => `REQUEST: ${watchName(data)} asked for ${what(data)}`,
	facts: (data) => [
		...partyFacts(data, 'Asked'),
		fact('Kind', 'request to the consensus layer, which may ignore it'),
		fact('Asked for', what(data)),
		fact('Validator', data.sourcePubkey ?? ''),
		...(data.targetPubkey == null ? [] : [fact('Into validator', data.targetPubkey)]),
		fact('Depth', depthInWords(data)),
		...(data.initiator === undefined ? [] : [fact('Started by', data.initiator)]),
		...amountFacts(data, 'Fee'),
		fact('Transaction', data.txHash, data.links?.tx),
	],
	warnings: (_data, isRetracted) => (isRetracted ? [] : [warning]),
	amount: () => '—',
}

const warning =
	'The owner of a withdrawal address can make its validators leave, or move their stake to another validator. ' +
	'If you did not ask for this, look at who controls the address now: the coins have not moved yet.'

function what({ request: asked, sourcePubkey = '', targetPubkey, amountGwei }: AlertData): string {
	const validator = `validator ${shortKey(sourcePubkey)}`
	switch (asked) {
		case 'exit':
			return `the exit of ${validator}`
		case 'consolidation':
			return `the stake of ${validator} to be moved to validator ${shortKey(targetPubkey ?? '')}`
		case 'compounding':
			return `${validator} to be switched to compounding credentials`
		default:
			return `a withdrawal of ${amountGwei} Gwei from ${validator}`
	}
}

function shortKey(pubkey: string): string {
	return `${pubkey.slice(0, 10)}…${pubkey.slice(-4)}`
}
