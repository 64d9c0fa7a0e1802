import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** A time of the wall's clock: a difference of two of its readings. */
const elapsed = String.raw`(?:performance\.now|Date\.now|hrtime(?:\.bigint)?)\(\)\s*-`
/** `const name = …`, `name: …`, `name.push(…)`, `name = …` of such a time. */
const named = new RegExp(String.raw`(\w+)(?: = |: |\.push\()(?:\(|Math\.\w+\()*${elapsed}`, 'g')
/** A matcher that holds a number against a written figure; against a measured one it is a ratio. */
const figure = String.raw`\.toBe(?:LessThan(?:OrEqual)?|CloseTo)\([\d_.e* ]+\)`

/** The lines that hold an elapsed time below a figure. A lower bound holds on a busy machine too. */
function asserted(text: string): string[] {
	const names = [...text.matchAll(named)].map(([, name]) => String.raw`(?<!processor\.)\b${name}\b`)
	const subject = [elapsed, ...names].join('|')
	const shape = new RegExp(String.raw`expect\([^\n]*(?:${subject})[^\n]*${figure}`)
	return text.split('\n').filter((line) => shape.test(line))
}

test('behavior: no test holds a time of the wall against a figure: a busy machine is no fault of ours', () => {
	const own = join('docs', 'wallClock.test.ts')
	const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((file) => /\.m?ts$/.test(file))
	expect(files.length).toBeGreaterThan(300)
	const found = files
		.filter((file) => file !== own)
		.flatMap((file) => asserted(readFileSync(join('test', file), 'utf8')).map((line) => `${file}: ${line.trim()}`))
	expect(found).toEqual([])
})

test.each([
	['the difference itself', 'expect(performance.now() - began).toBeLessThan(10_000)', 1],
	['a name of it', 'const tookMs = Date.now() - began\nexpect(tookMs).toBeLessThanOrEqual(2 * 50)', 1],
	['the worst of many', 'took.push(performance.now() - at)\nexpect(Math.max(...took)).toBeLessThan(9)', 1],
	['a property', 'return { tookMs: performance.now() - began }\nexpect(one.tookMs).toBeLessThan(9)', 1],
	['a ratio', 'const tookMs = Date.now() - began\nexpect(tookMs).toBeLessThan(5 * otherMs)', 0],
	['a lower bound', 'expect(performance.now() - began).toBeGreaterThan(250)', 0],
	['a virtual clock', 'const tookMs = nowMs - began\nexpect(tookMs).toBeLessThan(9)', 0],
])('default: %s', (_name, text, count) => {
	expect(asserted(text)).toHaveLength(count)
})
