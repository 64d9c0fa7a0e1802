// The record of kind `code`: what a message says of changed slots.
import { expect, test } from 'vitest'
import { alertOf } from '../../src/core/alerts/alert.js'
import type { CodeEvent } from '../../src/kinds/code.js'
import type { SlotChange } from '../../src/model/ownFields.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { address, hash, header, indexOf, network, watch } from '../core/build.js'
import { word } from '../support/ruledContract.js'

const safe = watch({ address: address(1), label: 'Treasury', kinds: ['code'] })

function linesOf(changed: readonly SlotChange[] | null): readonly string[] {
	const event: CodeEvent = {
		...{ kind: 'code', address: address(1), block: header(10) },
		foreign: {
			...{ txHash: hash(0xabc), txIndex: 2, traceAddress: [0], callType: 'delegatecall', input: '0x' },
			...{ code: address(2), codeHash: hash(5), codeName: null, chosenByCaller: true },
			...{ from: address(3), entryInput: '0x', initiator: address(3), changed },
		},
	}
	const alert = alertOf(
		{ event, watch: safe, direction: 'self', receivers: ['mail'] },
		{
			...{ network, block: header(10), finality: 'latest', detectedAtMs: 1_700_000_000_000 },
			...{ lateReason: null, watches: indexOf(safe), checksum: (one) => one },
		},
	)
	const data = { ...alert.data, deliveryId: 'msg_1' }
	const { text } = composeMessage({ type: alert.type, timestamp: data.detectedAt, data })
	return text.split('\n').flatMap((line) => /^Changed: +(.*)$/.exec(line)?.[1] ?? [])
}

test('default: each changed slot in a line, with its name, and numbers and addresses as such', () => {
	const thief = `0x${'c'.repeat(40)}` as const
	const mapping = `0x${'ab'.repeat(32)}`
	expect(
		linesOf([
			{ slot: word(0n), name: 'safe.singleton', previous: word(0n), current: word(thief) },
			{ slot: word(7n), name: null, previous: word(1n), current: word(2n) },
			{ slot: mapping, name: `safe.owner ${thief}`, previous: word(0n), current: mapping },
			{ slot: mapping, name: null, previous: word(0n), current: word(1n) },
		]),
	).toEqual([
		`safe.singleton: ${thief}; before: 0`,
		'slot 7: 2; before: 1',
		`safe.owner ${thief}: ${mapping}; before: 0`,
		`slot ${mapping}: 1; before: 0`,
	])
	const many = Array.from({ length: 15 }, () => ({ slot: word(7n), name: null, previous: word(0n), current: word(1n) }))
	expect(linesOf(many).slice(12)).toEqual(['3 slots more'])
	expect(linesOf([])).toEqual(['nothing in its storage'])
	expect(linesOf(null)).toEqual(['not known: no endpoint gave what the transaction changed'])
})
