import pino from 'pino'
import { expect, test } from 'vitest'
import { runIncidents } from '../../src/demo/incidents.js'
import { createScrubber } from '../../src/ops/scrub.js'

test('default: each takeover is reported in its block, and this many blocks before the coins leave', async () => {
	const lines: string[] = []
	const log = pino({ level: 'silent' })
	const say = (line: string) => lines.push(line)
	await runIncidents({ say, log, scrubber: createScrubber() }, new AbortController().signal)
	const told = lines.flatMap((line) => {
		const [, block, words] = /^ {2}block (\d+) {2}\[demo\] (.*)$/.exec(line) ?? []
		return block === undefined ? [] : [`${block} ${words}`]
	})
	const gone = 'sent 0.5 ETH to 0x90F7…b906, in a transaction that the recipient started'
	// The chain has two blocks before the first takeover. A takeover and a theft are a block each, and between the two
	// 17, 5, 29, 8 and 11 blocks are mined: 2 + 1 = 3, 3 + 18 = 21, 21 + 1 = 22, 22 + 6 = 28, and so on.
	expect(told).toEqual([
		'3 CODE: Exchange Safe ran the code of 0xcA5E…cAB1 in its own storage',
		`21 Exchange Safe ${gone}`,
		'22 CODE: Safe with a module ran the code of 0xcA5E…cAB1 in its own storage',
		`28 Safe with a module ${gone}`,
		'29 CODE: Shared Safe ran the code of 0xcA5E…cAB1 in its own storage',
		`59 Shared Safe ${gone}`,
		'60 CONTROL: Vault has a new owner: 0x90F7…b906',
		`69 Vault ${gone}`,
		'70 CONTROL: Proxy has a new implementation: 0xCA5E…CAB4',
		`82 Proxy ${gone}`,
	])
	const ahead = lines.flatMap((line) => /: (\d+) blocks before the coins left\.$/.exec(line)?.[1] ?? [])
	expect(ahead).toEqual(['18', '6', '30', '9', '12'])
})
