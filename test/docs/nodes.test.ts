// docs/nodes.md lists what the program knows of contracts.
import { expect, test } from 'vitest'
import { controlRows } from '../../src/core/events/controlLogs.js'
import { read, spansOf, tableOf } from './markdown.js'

test('default: every event that says who rules a contract is there beside its change, and no other', () => {
	const listed = tableOf(read('docs/nodes.md'), 'change', 'events').map(([changes = '', events = '']) => ({
		changes: spansOf(changes),
		events: spansOf(events),
	}))
	const known = controlRows.filter(({ isByAnybody }) => isByAnybody !== true)
	const nameOf = (event: string) => event.slice(0, event.indexOf('('))
	expect(new Set(listed.flatMap(({ events }) => events))).toEqual(new Set(known.map(({ event }) => nameOf(event))))
	const missing = known.filter(
		({ event, change }) => !listed.some((row) => row.changes.includes(change) && row.events.includes(nameOf(event))),
	)
	expect(missing).toEqual([])
})
