import { describe, expect, test } from 'vitest'
import { gather } from '../../../src/state/file/gather.js'

/** A disk whose writes end when, and as, the test says. */
function openDisk() {
	const writes: { text: string; end: (error?: Error) => void }[] = []
	const ledger = gather<string, { doc: string }>('', {
		begin: (doc) => ({ doc }),
		write: async ({ doc }, before) => {
			if (doc === before) return before
			await new Promise<void>((resolve, reject) => {
				writes.push({ text: doc, end: (error) => (error ? reject(error) : resolve()) })
			})
			return doc
		},
		after: async () => undefined,
	})
	const settled: string[] = []
	/** Adds a letter; notes how that ended. */
	const add = (letter: string) => {
		ledger
			.change((draft) => {
				if (letter === '!') throw new Error('refused')
				draft.doc += letter
				return draft.doc.length
			})
			.then(
				(length) => settled.push(`${letter} ${length}`),
				(error: Error) => settled.push(`${letter} ${error.message}`),
			)
	}
	const writing = async (count: number) => expect.poll(() => writes.length, { interval: 1 }).toBe(count)
	return { ledger, add, settled, writes, writing }
}

describe('gather', () => {
	test('default: what is asked for in one breath is one write, and shows when that has ended', async () => {
		const { ledger, add, settled, writes, writing } = openDisk()
		add('a')
		add('b')
		await writing(1)
		expect(writes[0]?.text).toBe('ab')
		expect(ledger.current()).toBe('')
		expect(settled).toEqual([])
		writes[0]?.end()
		await ledger.idle()
		expect(ledger.current()).toBe('ab')
		expect(settled).toEqual(['a 1', 'b 2'])
	})

	test('behavior: what comes during a write gathers for the next, and the first does not wait for that', async () => {
		const { ledger, add, settled, writes, writing } = openDisk()
		add('a')
		await writing(1)
		for (const letter of 'bcd') add(letter)
		writes[0]?.end()
		await writing(2)
		expect(settled).toEqual(['a 1'])
		expect(writes[1]?.text).toBe('abcd')
		writes[1]?.end()
		await ledger.idle()
		expect(writes).toHaveLength(2)
	})

	test('behavior: each is reported its own write: one that failed takes no one else along', async () => {
		const { ledger, add, settled, writes, writing } = openDisk()
		add('a')
		await writing(1)
		add('b')
		add('c')
		writes[0]?.end()
		await writing(2)
		add('d')
		writes[1]?.end(new Error('disk full'))
		await writing(3)
		expect(writes[2]?.text).toBe('ad')
		writes[2]?.end()
		await ledger.idle()
		expect(settled).toEqual(['a 1', 'b disk full', 'c disk full', 'd 2'])
		expect(ledger.current()).toBe('ad')
	})

	test('behavior: a change that throws is refused alone', async () => {
		const { ledger, add, settled, writes, writing } = openDisk()
		for (const letter of 'a!b') add(letter)
		await writing(1)
		expect(writes[0]?.text).toBe('ab')
		writes[0]?.end()
		await ledger.idle()
		expect(settled.sort()).toEqual(['! refused', 'a 1', 'b 2'])
	})

	test('behavior: nothing new, nothing written', async () => {
		const { ledger, settled, writes } = openDisk()
		await ledger.change(() => settled.push('done'))
		expect(settled).toEqual(['done'])
		expect(writes).toEqual([])
	})
})
