/** Who rules the watched contract changed: a log of the contract says so, or its state shows it. */

import type { AlertData } from '../model/alert.js'
import type { ControlChanged } from '../model/kind.js'
import type { ControlChange } from '../model/ownFields.js'
import { controlFields } from '../model/ownFields.js'
import { anchors } from './anchors.js'
import { controlFacts, controlSentence } from './controlText.js'
import { contentOf } from './frames.js'
import { coinFields, retractedWithBlock } from './phrases.js'
import type { KindFields, KindRecord, View } from './record.js'
import { byHeader, byTransaction } from './standing.js'

export const control: KindRecord<ControlChanged> = {
	kind: 'control',
	isDefault: true,
	ofContracts: true,
	seenIn: 'state',
	seenInAt: (place) => (isOfLog(place) ? 'logs' : 'state'),
	books: 'unused',
	isOfNow: false,
	hasDirection: false,
	anchors: [anchors.hash, anchors.block, anchors.blocks],
	idParts(event) {
		const { txHash, logIndex, fromBlock, block } = event
		if (txHash !== null && logIndex !== null) return [txHash, `log_${logIndex}`]
		return [fromBlock === block.number ? `${fromBlock}` : `${fromBlock}-${block.number}`, slotPlace(event)]
	},
	// The value before is left out: a later look knows more of it, and it changes with the blocks before.
	content: changedTo,
	announcedContent: changedTo,
	// Logs are read of watches known to have code: a look may miss the event although its log is in the block.
	missing: (entry, missing) =>
		isOfLog(entry.id.split(':')[2] ?? '') ? byTransaction(entry, missing, true) : byHeader(entry, missing),
	sides: ({ watch }) => [{ address: watch, direction: 'self' }],
	refusal: () => null,
	fields,
	frameTypes: ['log', 'storage'],
	own: controlFields,
	noun: 'a change of control',
	chosen: ({ reads = [] }) =>
		`changes of who rules it${reads.length === 0 ? '' : ` and of ${reads.join(', ')}`}, if it has code`,
	alarm: { rank: 2, marks: ['CONTROL'], markOf: () => 'CONTROL' },
	sentence: controlSentence,
	facts: controlFacts,
	warnings: (data, isRetracted) => (isRetracted ? [] : [...contradiction(data), warning]),
	retracted: retractedWithBlock,
	amount: () => '—',
}

const warning =
	'The accounts that rule a contract can take what it holds. If you did not make this change, act now: the coins may ' +
	'not have moved yet.'

function contradiction({ contradicted }: AlertData): readonly string[] {
	return contradicted === true
		? ['The contract logged a change that its storage does not have: trust the storage, and find out who logged it.']
		: []
}

function isOfLog(place: string): boolean {
	return place.startsWith('log_')
}

/** For example `slot_safe-owner_0x…`: the list's member, or the contract where it is not the watch. */
function slotPlace({ change, member, contract, watch, place }: ControlChanged): string {
	const parts = ['slot', nameInId(change), ...(member === null ? [] : [member])]
	if (contract !== watch) parts.push(contract)
	if (change === 'value' && place !== null)
		parts.push(
			place
				.toLowerCase()
				.replaceAll(/[^\da-z]/g, '-')
				.slice(0, 80),
		)
	return parts.join('_')
}

/** In lower case, as ids are: `safe-fallback-handler`. */
function nameInId(change: ControlChange): string {
	return change.replace('.', '-').replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)
}

function fields(event: ControlChanged, { network, checksum }: View): KindFields {
	const { change, action, role, evidence, slot, place, txHash, initiator, logIndex, fromBlock, block } = event
	const shown = (value: string | null) => (value !== null && isAddress(value) ? checksum(value) : value)
	return {
		txHash: txHash ?? block.hash,
		txIndex: event.txIndex,
		traceAddress: [],
		frameType: logIndex === null ? 'storage' : 'log',
		category: 'internal',
		from: null,
		to: checksum(event.watch),
		...(initiator === null ? {} : { initiator: checksum(initiator) }),
		...coinFields(0n, network),
		change,
		action,
		contract: checksum(event.contract),
		previous: shown(event.previous),
		current: shown(event.current),
		role,
		evidence,
		event: event.event,
		slot,
		...(place !== null && { place }),
		...(fromBlock !== block.number && { fromBlock: Number(fromBlock), toBlock: Number(block.number) }),
		...(event.contradicted && { contradicted: true, contradicts: event.contradicts ?? null }),
		...(event.unseen && { unseen: true }),
		...(event.disputed && { disputed: true }),
	}
}

function isAddress(value: string): value is `0x${string}` {
	return /^0x[\da-f]{40}$/.test(value)
}

type Changed = Partial<Pick<AlertData, 'change' | 'action' | 'contract' | 'role' | 'previous' | 'current'>>

function changedTo({ change, action, contract, role, previous, current }: Changed): string {
	return contentOf([change, action, contract, role, action === 'removed' ? previous : current])
}
