import { describe, expect, test } from 'vitest'
import { withEntry } from '../../../src/commands/setup/insert.js'

describe('withEntry', () => {
	test.each([
		['below its key', 'a:\n  - x\n  - y   # mine\n# end\nb: 1\n', 'a:\n  - x\n  - y   # mine\n  - z\n# end\nb: 1\n'],
		['not indented', 'a:\n- x\nb: 1\n', 'a:\n- x\n- z\nb: 1\n'],
		['without an end of line', 'b: 1\na:\n  - x', 'b: 1\na:\n  - x\n  - z\n'],
		['in brackets', 'a: [x, "y"]   # mine\n', 'a: [x, "y", z]   # mine\n'],
		['in brackets over lines', 'a: [\n  x,   # one\n  y,\n]\n', 'a: [\n  x,   # one\n  y, z,\n]\n'],
		['with CRLF', 'a:\r\n  - x\r\nb: 1\r\n', 'a:\r\n  - x\r\n  - z\nb: 1\r\n'],
	])('default: %s', (_, before, after) => {
		expect(withEntry(before, ['a'], ['z'])).toBe(after)
	})

	test('behavior: entries of several lines, below others with blank lines, comments and block scalars', () => {
		const before =
			'list:\n  # first\n  - name: x\n    note: |\n      words\n\n  - name: y\n\n    to: [1]\n\n# after\nend: 1\n'
		const after = withEntry(before, ['list'], ['name: z', 'to:', '  - 2']) ?? ''
		expect(after).toBe(before.replace('    to: [1]\n', '    to: [1]\n  - name: z\n    to:\n      - 2\n'))
	})

	test.each([
		['no list', 'a: 1\n'],
		['an empty one', 'a: []\n'],
		['nothing there', 'b: 1\n'],
		['an alias', 'b: &all [x]\na: *all\n'],
		['a list that is named elsewhere', 'a: &all\n  - x\nb: *all\n'],
		['no YAML', 'a: [x\n'],
	])('error: %s: nothing is made of it', (_, before) => {
		expect(withEntry(before, ['a'], ['z'])).toBeNull()
	})

	test('error: more lines than brackets can hold', () => {
		expect(withEntry('a: [{name: x}]\n', ['a'], ['name: z', 'to: 1'])).toBeNull()
	})
})
