import { expect, test } from 'vitest'
import { createWatchTable } from '../../src/config/watchlists/table/watchTable.js'
import { isKindWanted } from '../../src/kinds/all.js'
import type { Kind } from '../../src/model/kind.js'
import type { WatchIndex } from '../../src/model/watch.js'
import { indexOf } from '../core/build.js'
import { watchOf } from '../scan/bench.js'

const address = '0x00000000000000000000000000000000000000aa'

function tableOf(kinds: readonly Kind[]): WatchIndex {
	const table = createWatchTable(0)
	const { address: _address, label, ...rules } = watchOf(address, { kinds })
	table.addOnceSince(table.length, address, label, rules)
	const { index } = table
	return { ...index, values: () => expect.unreachable('a million are not looked at one by one') }
}

test.each([
	['delegation', true],
	['income', false],
] as const)('%s: by what the watches say, many or few', (kind, isWanted) => {
	const kinds: readonly Kind[] = ['transfer', 'delegation']
	expect(isKindWanted(tableOf(kinds), kind)).toBe(isWanted)
	expect(isKindWanted(indexOf(watchOf(address, { kinds })), kind)).toBe(isWanted)
})
