/** A function that `calls` of the watch names was called, at any depth. */

import * as AbiParameters from 'ox/AbiParameters'
import { printable, printableForeign } from '../base/text/printable.js'
import type { AbiInput } from '../model/abi.js'
import type { AlertData, FrameEvent } from '../model/alert.js'
import type { CallType } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { CallArgument, CallValue } from '../model/ownFields.js'
import { callFields } from '../model/ownFields.js'
import { elementOf, isUnfolded } from './callData.js'
import { fact } from './fact.js'
import { contentOf, depthInWords, frameFields, ofFrames } from './frames.js'
import { amountFacts, coinsOf, counterpartyName, partyFacts, shortAddress, signed, watchName } from './phrases.js'
import type { KindRecord } from './record.js'
import { byTransaction } from './standing.js'

export interface Called extends Omit<FrameEvent, 'kind'> {
	readonly kind: 'call'
	/** The contract that was called, whose storage the call uses. */
	readonly contract: Address
	/** `0x` and four bytes. */
	readonly selector: string
	/** Ends with `…` where it was cut. */
	readonly input: string
	readonly callType: CallType
	/** Null: the call succeeded. */
	readonly failure: string | null
}

export const call: KindRecord<Called> = {
	...ofFrames,
	kind: 'call',
	seenIn: 'calls',
	hasDirection: false,
	content: ({ selector, valueWei, failure }) => contentOf([selector, valueWei, String(failure === null)]),
	announcedContent: ({ selector, valueWei, success }) => contentOf([selector, valueWei, String(success)]),
	// Without `calls`, the frames of the call are not read any more, and its announcement still stands.
	missing: (entry, missing) => byTransaction(entry, missing, true),
	sides: ({ contract, from }) => [{ address: contract, direction: from === contract ? 'self' : 'in' }],
	refusal({ selector, failure }, { calls }) {
		if (calls?.functions.has(selector) !== true) return 'calls'
		return failure !== null && !calls.failed ? 'failed_calls' : null
	},
	fields(event, view) {
		const called = view.watch.calls?.functions.get(event.selector)
		return {
			...frameFields(event, view),
			selector: event.selector,
			signature: called?.signature ?? null,
			arguments: argumentsOf(called?.inputs ?? null, event.input),
			callType: event.callType,
			success: event.failure === null,
			failure: event.failure === null ? null : printable(event.failure, 300),
		}
	},
	frameTypes: ['call'],
	own: callFields,
	noun: 'a call',
	chosen: ({ calls }) =>
		calls === undefined || calls.functions.size === 0
			? null
			: `calls of ${[...calls.functions].map(([selector, { signature }]) => signature ?? selector).join(', ')}` +
				(calls.failed ? ' (failed ones too)' : ''),
	sentence(data) {
		const caller = data.direction === 'in' ? counterpartyName(data) : shortAddress(data.from ?? '')
		const by = data.from === null ? '' : ` by ${caller}`
		const times = data.count === undefined ? '' : `, and ${data.count - 1} more in this block`
		const coins = data.valueWei === '0' ? '' : ` with ${coinsOf(data)}`
		if (data.success === false) return `a call of ${nameOf(data)} at ${watchName(data)}${by} failed${times}`
		return `${nameOf(data)} was called at ${watchName(data)}${by}${coins}${times}`
	},
	facts: (data) => [
		...partyFacts(data, 'To'),
		fact('Kind', data.callType === 'call' ? 'call' : 'call of the contract to itself'),
		fact('Function', nameOf(data)),
		...argumentFacts(data),
		...(data.failure == null ? [] : [fact('Failed', printableForeign(data.failure, 300))]),
		...(data.count === undefined ? [] : [fact('Calls', `${data.count}, this one and those after it in the block`)]),
		...(data.valueWei === '0' ? [] : amountFacts(data, data.success === false ? 'Not moved' : 'Amount')),
		fact('Depth', depthInWords(data)),
		...(data.initiator === undefined || data.initiator === data.from ? [] : [fact('Started by', data.initiator)]),
		fact('Transaction', data.txHash, data.links?.tx),
	],
	amount: (data) => (data.valueWei === '0' || data.success === false ? '—' : signed(data, coinsOf(data))),
}

/** The function as the subject names it: `pause()`, or the selector. */
function nameOf({ signature, selector }: AlertData): string {
	return printable(signature ?? selector ?? '', 100)
}

/** Null where the inputs are not known, the data does not fit them, unfolds to much more, or was cut. */
function argumentsOf(inputs: readonly AbiInput[] | null, input: string): readonly CallArgument[] | null {
	if (inputs === null || !/^0x[0-9a-f]*$/.test(input)) return null
	if (inputs.length === 0) return []
	try {
		if (!isUnfolded(inputs, Buffer.from(input.slice(10), 'hex'))) return null
		const types = inputs.map(nameless) as AbiParameters.AbiParameters
		return named(inputs, AbiParameters.decode(types, `0x${input.slice(10)}`, { checksumAddress: true }))
	} catch {
		return null
	}
}

/** Without names, every struct is decoded to a list, even where two of its members share a name. */
function nameless({ type, components }: AbiInput): AbiInput {
	return components === undefined ? { type } : { type, components: components.map(nameless) }
}

function named(inputs: readonly AbiInput[], values: unknown): readonly CallArgument[] {
	const list = values as readonly unknown[]
	return inputs.map((input, at) => ({ name: input.name ?? '', type: input.type, value: plainValue(input, list[at]) }))
}

function plainValue(input: AbiInput, value: unknown): CallValue {
	const list = elementOf(input)
	if (list !== null) return (value as readonly unknown[]).map((each) => plainValue(list.element, each))
	if (input.components !== undefined) return named(input.components, value)
	return typeof value === 'boolean' ? value : String(value)
}

/** Rows of the table for the first arguments, each cut to 200 characters. */
const mostRows = 12

function argumentFacts({ arguments: all }: AlertData) {
	if (all == null) return []
	const rows = all
		.slice(0, mostRows)
		.map(({ name, type, value }, at) =>
			fact(
				printable(name, 40) || `Argument ${at + 1}`,
				`${printableForeign(inWords(value), 200)} (${printable(type, 40)})`,
			),
		)
	return all.length > mostRows ? [...rows, fact('Arguments', `${all.length - mostRows} more`)] : rows
}

function inWords(value: CallValue): string {
	return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
