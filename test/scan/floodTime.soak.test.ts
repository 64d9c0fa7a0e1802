// As much as fits a block of 60 million gas, and of 200 million, of what a stranger can have a watch take part in: what
// one look and the next make of it, and that no one else waits for them.

import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble, initOf } from '../support/assembler.js'
import { expectShortTurns } from '../support/soak.js'
import { signatures, wordOf } from '../support/tokenContracts.js'
import { openBench, watchOf } from './bench.js'

/**
 * The longest that one turn of the loop takes, in milliseconds: of the wall or of the processor, whichever is less,
 * since others may use the machine, and the collector of garbage both cores. And what all of the work takes.
 */
async function turnsOf(work: () => Promise<unknown>): Promise<{ readonly longest: number; readonly all: number }> {
	let longest = 0
	const began = process.cpuUsage()
	let isOver = false
	let [before, beganMs] = [process.cpuUsage(), performance.now()]
	const tick = () => {
		const { user, system } = process.cpuUsage(before)
		longest = Math.max(longest, Math.min((user + system) / 1_000, performance.now() - beganMs))
		;[before, beganMs] = [process.cpuUsage(), performance.now()]
		if (!isOver) setImmediate(tick)
	}
	setImmediate(tick)
	await work()
	isOver = true
	const { user, system } = process.cpuUsage(began)
	return { longest, all: (user + system) / 1_000 }
}

/** Does so as often as the first word of the call says; the second is whom it concerns, and `0x40` counts down. */
const repeating = (what: string): Hex =>
	initOf(
		assemble(`
	          0 CALLDATALOAD 0x40 MSTORE
	again:    0x40 MLOAD ISZERO @end JUMPI
	          ${what}
	          1 0x40 MLOAD SUB 0x40 MSTORE @again JUMP
	end:      STOP`),
	)
const size = '0 CALLDATALOAD 32 MUL'

const transfers = repeating(`0x40 MLOAD 0 MSTORE 32 CALLDATALOAD CALLER ${signatures.transfer} 32 0 LOG3`)
const otherWords = repeating(`0x40 MLOAD 0 MSTORE 0x40 MLOAD 32 CALLDATALOAD CALLER ${signatures.transfer} 0 0 LOG4`)
const nothings = repeating('0 0 LOG0')
const coins = repeating('0 0 0 0 1 32 CALLDATALOAD 0 CALL POP')
const oneBatch = initOf(
	assemble(`
	          64 0 MSTORE ${size} 96 ADD 32 MSTORE
	          0 CALLDATALOAD 64 MSTORE 0 CALLDATALOAD ${size} 96 ADD MSTORE
	          32 CALLDATALOAD CALLER CALLER ${signatures.batch} ${size} 2 MUL 128 ADD 0 LOG4 STOP`),
)

/** What is done, how often, in how many transactions, for millions of gas, and how many deliveries it makes. */
const floods: Readonly<Record<string, readonly [Hex, number, number, number, number]>> = {
	'31,000 transfers': [transfers, 31_000, 1, 60, 100],
	'31,000 transfers in 50 transactions': [transfers, 31_000, 50, 60, 100],
	'30,000 tokens of a collection': [otherWords, 30_000, 1, 60, 100],
	'130,000 logs that say nothing': [nothings, 130_000, 1, 60, 0],
	'60,000 entries in one log': [oneBatch, 60_000, 1, 60, 100],
	'8,500 payments': [coins, 8_500, 1, 60, 8_500],
	'125,000 entries in one log': [oneBatch, 125_000, 1, 200, 100],
	'29,000 payments': [coins, 29_000, 1, 200, 29_000],
}

test.each(Object.keys(floods))('behavior: %s', { timeout: 240_000 }, async (name) => {
	const [init, count, txs, millions, told] = floods[name] ?? [transfers, 0, 1, 0, 0]
	const node = await startTestAnvil(['--gas-limit', '20000000000', '--memory-limit', '1000000000'])
	onTestFinished(() => node.stop())
	const [stranger, alice] = (await node.accounts()) as [Address, Address]
	const { contractAddress } = await node.receipt(await node.send({ from: stranger, data: init }))
	const to = contractAddress as Address
	await node.rpc('anvil_setBalance', [to, '0xde0b6b3a7640000'])
	const bench = await openBench({
		urls: [node.url],
		watches: [watchOf(alice, { kinds: ['transfer', 'token'], tokens: 'all', label: 'Treasury' })],
		books: false,
		timeoutMs: 120_000,
		maxBodyBytes: 2 ** 29,
	})
	onTestFinished(() => bench.close())
	await bench.settle()
	await node.automine(false)
	const data: Hex = `0x${wordOf(BigInt(count / txs))}${wordOf(alice)}`
	const gas = BigInt(Math.ceil((1.1 * millions * 1e6) / txs))
	const sent: Hex[] = []
	for (let n = 0; n < txs; n++) sent.push(await node.send({ from: stranger, to, data, gas }))
	await node.mine(1)
	const receipts = await Promise.all(sent.map((hash) => node.receipt(hash)))
	expect(receipts.map(({ status }) => status)).toEqual(sent.map(() => '0x1'))
	const usedGas = receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0)
	const first = await turnsOf(() => bench.settle())
	await node.mine(20)
	const second = await turnsOf(() => bench.settle())
	console.log(
		`${name}: ${Math.round(usedGas / 1e6)} million gas; the longest turn of the first look ` +
			`${Math.round(first.longest)} ms, of the second ${Math.round(second.longest)} ms`,
	)
	expect(await bench.posted()).toHaveLength(told)
	expect(usedGas).toBeGreaterThan(0.9 * millions * 1e6)
	expectShortTurns(first.longest, first.all)
	expectShortTurns(second.longest, second.all)
})
