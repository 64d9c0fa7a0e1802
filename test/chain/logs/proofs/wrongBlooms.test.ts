// Blooms that name logs which no receipt has, at the door of the proof: a log is missing, or blooms are wrong here.
import { expect, test } from 'vitest'
import { createReceiptProof } from '../../../../src/chain/logs/proofs/receiptProof.js'
import { readLogReceipt } from '../../../../src/chain/logs/proofs/wireLogs.js'
import { readBlock } from '../../../../src/chain/wire/wire.js'
import { bloomOf, type Json, rootOf, startOddChain } from '../../../support/oddChain.js'
import { silent } from '../../../support/silent.js'

const reading = { endpoint: 'node', method: 'eth_getBlockReceipts' }
const stray = BigInt(bloomOf([`0x${'d4'.repeat(20)}`]))
const fuller = (bloom: unknown) => `0x${(BigInt(String(bloom)) | stray).toString(16).padStart(512, '0')}`

async function open(chainId: number) {
	const chain = await startOddChain()
	chain.mine({ tokens: true })
	const ask = async (method: string) => {
		const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: ['0x1', false] })
		const answer = (await (await fetch(chain.url, { method: 'POST', body })).json()) as Json
		return answer.result as never
	}
	const header: Json = await ask('eth_getBlockByNumber')
	const [receipt] = (await ask('eth_getBlockReceipts')) as [Json]
	await chain.close()
	let nowMs = 0
	const prove = createReceiptProof({ chainId, clock: () => nowMs, log: silent })
	return {
		header,
		receipt,
		pass: (ms: number) => {
			nowMs += ms
		},
		async proof(block: Json, one: Json = receipt): Promise<string> {
			const [read, own] = [readBlock({ ...header, ...block }, reading), await readLogReceipt(one, reading)]
			if (read === null || own === null) throw new Error('nothing was read')
			return prove([own], read, reading).catch((error: Error) => error.message)
		},
	}
}

const lacks = expect.stringContaining('lack logs that the header names')

test('a bloom that names more, where one fitted before: a log is missing, until it was so for a minute', async () => {
	const { header, proof, pass } = await open(777_777)
	const odd = { logsBloom: fuller(header.logsBloom) }
	expect(await proof({})).toBe('bloom')
	for (let n = 0; n < 3; n++) expect(await proof(odd)).toEqual(lacks)
	expect(await proof({})).toBe('bloom')
	for (let n = 0; n < 4; n++) {
		expect(await proof(odd)).toEqual(lacks)
		pass(15_000)
	}
	expect(await proof(odd)).toBe('none')
})

test('behavior: a root that fits ends the time in which contradicted receipts are believed', async () => {
	const { header, receipt, proof, pass } = await open(777_777)
	const odd = { logsBloom: fuller(header.logsBloom) }
	expect(await proof({})).toBe('bloom')
	for (let n = 0; n < 4; n++) {
		expect(await proof(odd)).toEqual(lacks)
		pass(15_000)
	}
	expect(await proof(odd)).toBe('none')
	expect(await proof({ receiptsRoot: rootOf(receipt) })).toBe('receipts')
	expect(await proof(odd)).toContain('that the header names')
})

test('a bloom that names more, where none ever fitted: whole receipts are believed at once', async () => {
	const { header, receipt, proof } = await open(777_777)
	const odd = { logsBloom: fuller(header.logsBloom) }
	// Its own bloom names a log that it lacks.
	expect(await proof(odd, { ...receipt, logsBloom: fuller(receipt.logsBloom) })).toEqual(lacks)
	expect(await proof(odd)).toBe('none')
})

test.each([1, 777_777])(
	'receipts that make the root of their header on chain %i are proved whatever the blooms are',
	async (chainId) => {
		const { receipt, proof } = await open(chainId)
		const receiptsRoot = rootOf(receipt)
		const full = `0x${'ff'.repeat(256)}`
		for (const logsBloom of [fuller('0x0'), full, null, undefined, '0x'])
			expect(
				await proof(
					{ receiptsRoot, logsBloom },
					{ ...receipt, ...(logsBloom !== fuller('0x0') && { logsBloom: full }) },
				),
			).toBe('receipts')
	},
)
