import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPlainYaml } from '../../src/config/plainYaml.js'
import { parseYaml } from '../../src/config/yaml.js'

fc.configureGlobal({ seed: 20261120 })

const usual = `# Exchanges
network: ethereum
receivers: [ops-mail, "ops hook", 'x']  # who

watches:
  - address: 0x742d35Cc6634C0532925a3b844Bc454e4438f44e   # cold
    label: Exchange 1 (main)
    tags: []
    min_value: 0.5
  # the second
  - address: "0x0000000000000000000000000000000000000001"
    label: 'it is: quoted # here'
    from_block: 017
`

/** What is read here is what the parser reads; or it is left to the parser. */
function compare(text: string): 'read' | 'left' {
	const value = readPlainYaml(text)
	if (value === null) return 'left'
	const parsed = parseYaml(text, 'a.yaml')
	expect('problems' in parsed ? parsed.problems : []).toEqual([])
	expect(value).toEqual('value' in parsed && parsed.value)
	return 'read'
}

describe('readPlainYaml', () => {
	test('reads a usual watchlist as the YAML parser does', () => {
		expect(compare(usual)).toBe('read')
	})

	test('agrees with the YAML parser on whatever it reads, however a usual watchlist is spoilt', () => {
		const piece = fc.oneof(
			fc.constantFrom(...':#-[]{}"\'\n &*!|>%@,?~\\`=<\t\r\u0085\u00a0\u2028\ufeff\0'),
			fc.constantFrom(
				': ',
				' #',
				'- ',
				'\n  ',
				'\n    ',
				'---\n',
				'null',
				'<<: ',
				'""',
				"''",
				'\n\n',
				'a: b\n',
				'  - ',
			),
			fc.string({ maxLength: 3, unit: 'binary' }),
		)
		const edit = fc.record({ at: fc.nat(usual.length), cut: fc.nat(4), put: piece })
		let read = 0
		fc.assert(
			fc.property(fc.array(edit, { maxLength: 3 }), (edits) => {
				const text = edits.reduce((all, { at, cut, put }) => all.slice(0, at) + put + all.slice(at + cut), usual)
				if (compare(text) === 'read') read += 1
			}),
			{ numRuns: 3000 },
		)
		// Otherwise nothing was compared.
		expect(read).toBeGreaterThan(100)
	})

	test('agrees with the YAML parser on values of every kind', () => {
		const value = fc.oneof(
			fc.stringMatching(/^[ -~]{0,8}$/),
			fc.stringMatching(/^\[[a-z0-9'", #:-]{0,10}\]( #x)?$/),
			fc.stringMatching(/^"[ -~]{0,6}"$/),
			fc.stringMatching(/^'[ -~]{0,6}'$/),
		)
		fc.assert(
			fc.property(value, value, (one, other) => {
				compare(`network: ${one}\nwatches:\n  - address: ${other}\n    label: ${one}\n`)
			}),
			{ numRuns: 3000 },
		)
	})

	test.each([
		['no list', 'network: ethereum\n'],
		['an empty list', 'watches:\n'],
		['the same key twice', 'watches:\n  - a: x\n    a: y\n'],
		['another indentation', 'watches:\n  - a: x\n   - a: y\n'],
		['keys after the list', 'watches:\n  - a: x\nnetwork: y\n'],
		['null', 'watches:\n  - a: null\n'],
		['an escape', 'watches:\n  - a: "\\n"\n'],
		['an anchor', 'watches:\n  - a: &x y\n'],
		['a block text', 'watches:\n  - a: |\n      y\n'],
		['a list in lines', 'watches:\n  - a:\n      - y\n'],
		['a second document', 'watches:\n  - a: x\n---\n'],
		['a carriage return', 'watches:\r\n  - a: x\r\n'],
	])('leaves %s to the YAML parser', (_, text) => {
		expect(readPlainYaml(text)).toBeNull()
	})
})
