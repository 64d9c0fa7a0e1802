import { expect, test } from 'vitest'
import { isAbout, tooMuchWaits } from '../../../src/core/outbox/backlog.js'
import { deliveryOf } from '../../state/samples.js'

/** Waiting for `mail` and for `hook` about this network, and how many in all besides. */
const cases: Readonly<Record<string, readonly [mail: number, hook: number, others: number, waits: number | null]>> = {
	'default: nothing waits': [0, 0, 0, null],
	'default: both are full': [100, 100, 0, 200],
	'behavior: one is full, and the other keeps up': [100, 0, 0, null],
	'behavior: one is full, and the other is nearly': [100, 99, 0, null],
	'behavior: one is full many times over': [400, 0, 0, 400],
	'behavior: another network fills all': [0, 0, 10_000, null],
	'behavior: another network fills all, and this one has a small part': [6, 6, 10_000, null],
	'behavior: all is full, and this one has a good part of it': [13, 0, 787, 13],
	'behavior: all is not full, and this one has a good part of it': [13, 0, 786, null],
}

test.each(Object.entries(cases))('%s', (_, [mail, hook, others, waits]) => {
	const own = new Map([
		['mail', mail],
		['hook', hook],
	])
	expect(tooMuchWaits({ own, all: mail + hook + others, receivers: ['mail', 'hook'] }, 100)).toBe(waits)
})

test('behavior: of a network that reports nothing any more, what is left to be sent counts', () => {
	const own = new Map([['gone', 99]])
	expect(tooMuchWaits({ own, all: 99, receivers: [] }, 100)).toBeNull()
	expect(tooMuchWaits({ own: new Map([['gone', 100]]), all: 100, receivers: [] }, 100)).toBe(100)
	expect(tooMuchWaits({ own: new Map(), all: 100, receivers: [] }, 100)).toBeNull()
})

test('behavior: a message is about its network alone', () => {
	const { message } = deliveryOf('a')
	expect(isAbout(message, 'ethereum')).toBe(true)
	expect(isAbout(message, 'base')).toBe(false)
})
