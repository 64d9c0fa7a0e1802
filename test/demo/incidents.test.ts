import pino from 'pino'
import { expect, test } from 'vitest'
import { runIncidents } from '../../src/demo/incidents.js'
import { createScrubber } from '../../src/ops/scrub.js'

test('default: each takeover is reported in its block, before the coins leave', async () => {
	const lines: string[] = []
	const log = pino({ level: 'silent' })
	const say = (line: string) => lines.push(line)
	await runIncidents({ say, log, scrubber: createScrubber() }, new AbortController().signal)
	const reported = lines.filter((line) => / (CODE|CONTROL): /.test(line))
	expect(reported.map((line) => line.replace(/^.*\] (\w+): .*$/, '$1'))).toEqual(['CODE', 'CODE', 'CODE', 'CONTROL'])
	const ahead = lines.flatMap((line) => /came (\d+) blocks before/.exec(line)?.[1] ?? [])
	expect(ahead).toEqual(['18', '6', '30', '12'])
})
