/** The watch ran foreign code in its own storage, by delegatecall or callcode; or its own code changed. */

import { printable } from '../base/text/printable.js'
import type { AlertData } from '../model/alert.js'
import type { CallType } from '../model/chain.js'
import type { Address, Hash } from '../model/glossary.js'
import type { SlotChange } from '../model/ownFields.js'
import { codeFields } from '../model/ownFields.js'
import { type AccountEvent, ofAccount, sideOf } from './account.js'
import { anchors } from './anchors.js'
import { type Fact, fact } from './fact.js'
import { contentOf, depthInWords } from './frames.js'
import { coinFields, shortAddress, transactionFacts, watchName } from './phrases.js'
import type { KindRecord } from './record.js'
import { byTransactionOrHeader } from './standing.js'

export interface ForeignCode {
	readonly txHash: Hash
	readonly txIndex: number | null
	readonly traceAddress: readonly number[]
	readonly callType: CallType
	readonly input: string
	readonly code: Address
	/** Null: nothing is left of it. */
	readonly codeHash: Hash | null
	readonly codeName: string | null
	readonly chosenByCaller: boolean
	/** The call that entered the address. */
	readonly from: Address | null
	readonly entryInput: string
	readonly initiator: Address | null
	readonly changed: readonly SlotChange[] | null
	/** How many times it ran since the last alert; absent: once. */
	readonly count?: number
}

export interface CodeEvent extends AccountEvent {
	readonly kind: 'code'
	/** Null: the address's own code changed. */
	readonly foreign: ForeignCode | null
	/** Own code, after and before; null: none. */
	readonly own?: { readonly codeHash: Hash | null; readonly previousHash: Hash | null }
}

export const code: KindRecord<CodeEvent> = {
	...ofAccount,
	kind: 'code',
	seenIn: 'transactions',
	ofContracts: true,
	anchors: [anchors.hash, anchors.block],
	idParts: ({ foreign, block }) =>
		foreign === null
			? [`${block.number}`, 'code']
			: [foreign.txHash, foreign.traceAddress.length === 0 ? 'root' : foreign.traceAddress.join('_')],
	content: ({ foreign, own }) => contentOf([foreign?.code ?? own?.codeHash]),
	announcedContent: ({ codeAddress, codeHash, ownCode }) => contentOf([ownCode === true ? codeHash : codeAddress]),
	missing: byTransactionOrHeader,
	sides: (event) => sideOf(event, 'self'),
	refusal: ({ foreign }, { allowedCode }) =>
		foreign !== null && allowedCode?.includes(foreign.code) === true ? 'allowed_code' : null,
	fields({ address: watched, block, foreign, own }, { network, checksum }) {
		const common = { category: 'internal', to: checksum(watched), ...coinFields(0n, network) } as const
		if (foreign === null) {
			return {
				...common,
				txHash: block.hash,
				txIndex: null,
				traceAddress: [],
				frameType: 'code',
				from: null,
				codeAddress: checksum(watched),
				codeHash: own?.codeHash ?? null,
				previousHash: own?.previousHash ?? null,
				codeName: null,
				ownCode: true,
			}
		}
		return {
			...common,
			txHash: foreign.txHash,
			txIndex: foreign.txIndex,
			traceAddress: foreign.traceAddress,
			frameType: 'call',
			from: foreign.from === null ? null : checksum(foreign.from),
			...(foreign.initiator === null ? {} : { initiator: checksum(foreign.initiator) }),
			codeAddress: checksum(foreign.code),
			codeHash: foreign.codeHash,
			codeName: foreign.codeName,
			callType: foreign.callType,
			selector: selectorOf(foreign.input),
			entrySelector: selectorOf(foreign.entryInput),
			chosenByCaller: foreign.chosenByCaller,
			changed: foreign.changed,
			ownCode: false,
			...(foreign.count === undefined ? {} : { count: foreign.count }),
		}
	},
	frameTypes: ['call', 'code'],
	own: codeFields,
	noun: 'foreign code',
	chosen: ({ allowedCode = [] }) =>
		`foreign code that it runs${allowedCode.length === 0 ? '' : `, but for ${allowedCode.length} allowed`}`,
	alarm: { rank: 2, marks: ['CODE'], markOf: () => 'CODE' },
	sentence: (data) => `CODE: ${watchName(data)} ${happening(data)}`,
	facts: (data) => [fact('Address', data.watch.address, data.links?.to), ...factsOf(data), ...transactionFacts(data)],
	warnings: (data, isRetracted) => (isRetracted || data.ownCode === true ? [] : [warningOf(data)]),
	amount: () => '—',
}

function selectorOf(input: string): string | null {
	return input.length >= 10 ? input.slice(0, 10) : null
}

function happening(data: AlertData): string {
	if (data.ownCode === true)
		return data.codeHash == null ? 'lost its own code' : 'runs other code of its own than before'
	const times = data.count === undefined ? '' : `, ${data.count} times since the last alert`
	return `ran the code of ${nameOf(data)} in its own storage${times}`
}

function nameOf({ codeName, codeAddress = '' }: AlertData): string {
	return printable(codeName ?? shortAddress(codeAddress), 60)
}

function factsOf(data: AlertData): readonly Fact[] {
	if (data.ownCode === true) {
		return [
			fact('Kind', 'change of its own code'),
			fact('Code hash', data.codeHash ?? 'no code'),
			fact('Before', data.previousHash ?? 'no code'),
		]
	}
	const { codeAddress = '', codeName, codeHash, chosenByCaller, selector, entrySelector, from, initiator } = data
	return [
		fact('Kind', `foreign code, by ${data.callType}`),
		fact('Code', codeName == null ? codeAddress : `${codeAddress}, ${printable(codeName, 60)}`),
		fact('Code hash', codeHash ?? 'nothing is left of it'),
		fact('Chosen by', chosenByCaller === true ? 'the caller: the call names it' : 'the code that ran it'),
		...(selector == null ? [] : [fact('Function', selector)]),
		fact('Called by', from ?? 'no account'),
		...(entrySelector == null ? [] : [fact('Called with', entrySelector)]),
		...(initiator === undefined || initiator === from ? [] : [fact('Started by', initiator)]),
		fact('Depth', depthInWords(data)),
		...changedFacts(data),
	]
}

/** Rows of the table for the first slots. */
const mostRows = 12

function changedFacts({ changed }: AlertData): readonly Fact[] {
	if (changed == null) return [fact('Changed', 'not known: no endpoint gave what the transaction changed')]
	if (changed.length === 0) return [fact('Changed', 'nothing in its storage')]
	const rows = changed
		.slice(0, mostRows)
		.map(({ slot, name, previous, current }) =>
			fact('Changed', `${name ?? `slot ${shown(slot)}`}: ${shown(current)}; before: ${shown(previous)}`),
		)
	return changed.length > mostRows ? [...rows, fact('Changed', `${changed.length - mostRows} slots more`)] : rows
}

/** `7` for a small number, 20 bytes where the others are empty, else the whole word. */
function shown(word: string): string {
	const number = BigInt(word)
	if (number < 1n << 64n) return String(number)
	return number < 1n << 160n ? `0x${number.toString(16).padStart(40, '0')}` : word
}

function warningOf({ codeAddress = '', chosenByCaller }: AlertData): string {
	const allow = `If it is yours, name it in the watchlist: allowed_code: [${codeAddress}]`
	const what =
		'Foreign code in the storage of a contract can change its owners and its implementation, and spend all it has'
	return chosenByCaller === true ? `${what}. ${allow}` : `${what}. It is reported once. ${allow}`
}
