// The record of kind `token`: its fields.

import { describe, expect, test } from 'vitest'
import { recordOf } from '../../src/kinds/all.js'
import { tokenLines } from '../../src/kinds/tokenText.js'
import type { TokenData } from '../../src/model/ownFields.js'
import type { TokenEvent } from '../../src/model/token.js'
import { address, alert, blockRef, hash, network, watch } from '../core/build.js'

const contract = address(0x404)
const moved: TokenEvent = {
	...{ kind: 'token', standard: 'erc20', contract, from: address(9), to: address(1), amountRaw: 5n, tokenId: null },
	...{ operator: null, initiator: address(9), txHash: hash(7), txIndex: 0, trace: 'log_0', block: blockRef(10) },
}

function fieldsOf(event: TokenEvent) {
	const known = { address: contract, symbol: 'PANDORA', decimals: 18, minAmountRaw: null }
	const checksum = (one: string) => one
	return recordOf('token').fields(event, {
		...{ watch: watch({ kinds: ['token'] }), direction: 'in', checksum },
		network: { ...network, tokens: new Map([[contract, known]]) },
	})
}

describe('a contract that logs transfers of both standards (ERC-404)', () => {
	test('default: an ERC-20 transfer has an amount by the decimals', () => {
		expect(fieldsOf(moved)).toMatchObject({ value: '0.000000000000000005', token: { amountRaw: '5' } })
	})

	test('behavior: an ERC-721 transfer is of one item, of which the decimals say nothing', () => {
		const item = fieldsOf({ ...moved, standard: 'erc721', amountRaw: 1n, tokenId: 42n })
		expect(item).toMatchObject({ value: null, token: { amountRaw: '1', amount: null, tokenId: '42' } })
		const facts = tokenLines(alert('1:log_0').data, item.token as TokenData)
		expect(new Map(facts).get('Raw amount')).toBe('1')
	})
})
