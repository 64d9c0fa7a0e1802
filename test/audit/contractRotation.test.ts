// A program that ends after one poll remembers nothing of the last one, and still reads all contracts in time.
import { expect, test } from 'vitest'
import { createContractRotation } from '../../src/audit/contracts/contractRotation.js'
import type { Contract } from '../../src/model/contract.js'
import type { Address } from '../../src/model/glossary.js'

const contract: Contract = { since: 0n, readAt: 0n, codeHash: `0x${'1'.repeat(64)}`, isSafe: false, values: {} }
const many = (count: number) =>
	new Map(
		Array.from({ length: count }, (_, at): [Address, Contract] => [`0x${String(at).padStart(40, '0')}`, contract]),
	)

test('default: of at most 100 contracts all are read, from the first on', () => {
	const contracts = many(100)
	expect(createContractRotation({ clock: () => 0 }).next(contracts)).toEqual([...contracts.keys()])
})

test('behavior: runs that begin at random places read every contract', () => {
	const contracts = many(1_000)
	const read = new Set<Address>()
	for (let run = 0; run < 10; run++) {
		const rotation = createContractRotation({ clock: () => 0, random: () => run / 10 })
		for (const address of rotation.next(contracts)) read.add(address)
	}
	expect(read.size).toBe(1_000)
})

test('behavior: in one process each is read once before any is read again', () => {
	const contracts = many(250)
	let nowMs = 0
	const rotation = createContractRotation({ clock: () => nowMs, random: () => 0.5 })
	const read: Address[] = []
	while (read.length < 500) {
		read.push(...rotation.next(contracts))
		nowMs += 60_000
	}
	expect(new Set(read.slice(0, 250)).size).toBe(250)
	expect(read.slice(250, 500)).toEqual(read.slice(0, 250))
})
