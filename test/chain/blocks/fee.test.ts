// Worked out by hand from the rules in docs/nodes.md, "Fees".
import { describe, expect, test } from 'vitest'
import { feeOf } from '../../../src/chain/blocks/fee.js'

const gwei = (n: number) => `0x${(BigInt(Math.round(n * 10)) * 10n ** 8n).toString(16)}`
const receipt = { gasUsed: '0x5208', effectiveGasPrice: gwei(12), status: '0x1', type: '0x2' }

describe('the fee of a transaction', () => {
	test.each<[string, object, readonly [bigint, bigint] | null]>([
		['default: gas used at its price', receipt, [252_000_000_000_000n, 252_000_000_000_000n]],
		['behavior: the same where it failed', { ...receipt, status: '0x0' }, [252_000_000_000_000n, 252_000_000_000_000n]],
		[
			'behavior: six blobs at 5 wei each byte come on top',
			{ ...receipt, type: '0x3', blobGasUsed: '0xc0000', blobGasPrice: '0x5' },
			// 6 × 131,072 × 5
			[252_000_003_932_160n, 252_000_003_932_160n],
		],
		[
			'behavior: blob gas of another type is no price (OP Jovian reports its footprint there)',
			{ ...receipt, blobGasUsed: '0xc0000', blobGasPrice: '0x1' },
			[252_000_000_000_000n, 252_000_000_000_000n],
		],
		[
			'behavior: OP adds what the first layer costs',
			{ ...receipt, l1Fee: '0x3b9aca00' },
			[252_001_000_000_000n, 252_001_000_000_000n],
		],
		[
			'behavior: OP adds what its operator wants, by Isthmus and by Jovian',
			{ ...receipt, operatorFeeScalar: '0x7d0', operatorFeeConstant: '0x9' },
			// 21,000 × 2,000 / 10^6 + 9, and 21,000 × 2,000 × 100 + 9
			[252_000_000_000_051n, 252_004_200_000_009n],
		],
		['behavior: a deposit of OP costs nothing', { ...receipt, type: '0x7e' }, [0n, 0n]],
		['behavior: Celo, paid in a token', { ...receipt, feeCurrency: `0x${'11'.repeat(20)}` }, [0n, 0n]],
		['error: zkSync gives back what it does not say', { ...receipt, l1BatchNumber: '0x1' }, null],
		['error: no price', { gasUsed: '0x5208' }, null],
	])('%s', (_name, raw, wei) => {
		expect(feeOf(raw, 1)).toEqual(wei)
	})

	test('behavior: Celo shows a fee of the first layer, and does not charge it', () => {
		expect(feeOf({ ...receipt, l1Fee: '0x3b9aca00' }, 42_220)).toEqual([252_000_000_000_000n, 252_000_000_000_000n])
	})
})
