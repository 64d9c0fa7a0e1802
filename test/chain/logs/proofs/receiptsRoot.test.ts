// Held against what Anvil makes of the same receipts: roots of blocks with few and with many, of each type.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bloomOf } from '../../../../src/chain/logs/proofs/bloom.js'
import { receiptsRootOf } from '../../../../src/chain/logs/proofs/receiptsRoot.js'
import { readLogReceipt } from '../../../../src/chain/logs/proofs/wireLogs.js'
import { emptyRoot } from '../../../../src/chain/wire/listRoot.js'
import { isObject } from '../../../../src/chain/wire/wire.js'
import type { Address } from '../../../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../../../support/anvil.js'
import { liar, lie } from '../../../support/tokenContracts.js'

const reading = { endpoint: 'here', method: 'eth_getBlockReceipts' }

let node: TestAnvil
let from: Address
let to: Address | null
beforeAll(async () => {
	node = await startTestAnvil(['--order', 'fifo', '--gas-limit', '300000000'])
	from = (await node.accounts())[0] as Address
	to = (await node.receipt(await node.send({ from, data: liar() }))).contractAddress
	await node.automine(false)
})
afterAll(() => node.stop())

// With 300 the places in the list are of one byte and of two, and of each form that RLP has for them.
test.each([0, 1, 2, 17, 300])('default: %i transactions', async (count) => {
	const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const
	for (let n = 0; n < count; n++) {
		const topics = Array.from({ length: n % 5 }, (_, at) => word(n * 8 + at))
		// Every third fails: it tells more topics than it has.
		const data = n % 3 === 2 ? '0xff' : lie(topics, `0x${'ab'.repeat(n % 70)}`)
		const fields = [{}, { gasPrice: '0x77359400' }, { accessList: [] }][n % 3]
		await node.rpc('eth_sendTransaction', [{ from, to, data, gas: '0x186a0', ...fields }])
	}
	const number = `0x${(await node.mine(1)).toString(16)}`
	const header = await node.rpc('eth_getBlockByNumber', [number, false])
	const raw = await node.rpc<unknown[]>('eth_getBlockReceipts', [number])
	const receipts = (await Promise.all(raw.map((one) => readLogReceipt(one, reading)))).flatMap((one) => one ?? [])
	expect(receipts).toHaveLength(count)
	if (!isObject(header)) throw new Error('no header')
	expect(await receiptsRootOf(receipts)).toBe(header.receiptsRoot)
	const logs = receipts.flatMap((receipt) => receipt.logs)
	expect(await bloomOf(logs)).toBe(header.logsBloom)
	if (count === 0) expect(header.receiptsRoot).toBe(emptyRoot)
	const [first] = receipts
	if (first === undefined) return
	for (const changed of [
		{ ...first, raw: { ...first.raw, status: '0x0' } },
		{ ...first, raw: { ...first.raw, cumulativeGasUsed: '0x1' } },
		{ ...first, raw: { ...first.raw, type: '0x4' } },
	]) {
		const others = [changed, ...receipts.slice(1)]
		expect(await receiptsRootOf(others)).not.toBe(header.receiptsRoot)
	}
})

test('behavior: of a receipt that lacks what its bytes are made of nothing is said', async () => {
	const raw = { transactionHash: `0x${'1'.repeat(64)}`, blockHash: `0x${'2'.repeat(64)}`, blockNumber: '0x1', logs: [] }
	const receipt = await readLogReceipt(raw, reading)
	if (receipt === null) throw new Error('no receipt')
	expect(await receiptsRootOf([receipt])).toBeNull()
})
