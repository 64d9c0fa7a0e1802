// The border for what a terminal or a pipe is shown, and that no file goes round it.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createScrubber } from '../../src/ops/scrub.js'
import { createTerminal } from '../../src/ops/terminal.js'

const src = new URL('../../src/', import.meta.url).pathname

function shown() {
	const scrubber = createScrubber()
	scrubber.add(['k3y-of-an-endpoint'])
	const lines: string[] = []
	const write = (text: string) => void lines.push(text)
	return { ...createTerminal(scrubber, { out: write, err: write }), lines }
}

const hostile = 'a\u001b[2Jb\u202ec\u200bd\u009be\u2028f k3y-of-an-endpoint'

test('default: whichever way a line goes out, it obeys no one and reports no secret', () => {
	const { out, err, fault, lines } = shown()
	out(hostile)
	err(hostile)
	fault(hostile)
	expect(lines).toHaveLength(3)
	for (const line of lines) {
		expect(line).toMatch(/^a\[2Jbcdef /)
		expect(line).not.toContain('k3y-of-an-endpoint')
	}
})

test('behavior: JSON says by escapes what was there', () => {
	const { out, lines } = shown()
	out(JSON.stringify({ label: 'Trea\u200bsury\u202e' }))
	expect(lines).toEqual(['{"label":"Trea\\u200bsury\\u202e"}'])
})

test('default: nothing is printed but through it, save questions and progress, which are our own words', () => {
	const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
	const printing = files.filter((path) =>
		/\bconsole\.|process\.std(?:out|err)\.write|= process\.std(?:out|err)\b/.test(
			readFileSync(`${src}${path}`, 'utf8'),
		),
	)
	expect(printing.sort()).toEqual(['cli.ts', 'commands/shared/progress.ts', 'main.ts'])
})
