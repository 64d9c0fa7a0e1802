import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTurns } from '../../src/base/timeSlices.js'
import { readPlainYaml } from '../../src/config/plainYaml.js'
import { parseYaml } from '../../src/config/yaml.js'

fc.configureGlobal({ seed: 20261120 })

const turns = createTurns()

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

silences:
- from: 22:00
  to: 2026-12-24T18:00+01:00 # late
- weekdays: [ sat, "sun" ]
kinds: [transfer]
`

/** What is read here is what the parser reads; or it is left to the parser. */
async function compare(text: string): Promise<'read' | 'left'> {
	const plain = await readPlainYaml(text, turns)
	if (plain === null) return 'left'
	const parsed = parseYaml(text, 'a.yaml')
	if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
	expect(plain.value).toEqual(parsed.value)
	for (const path of pathsOf(parsed.value, [])) {
		for (const at of ['key', 'value'] as const) {
			expect({ path, at, ...plain.locate(path, at) }).toEqual({ path, at, ...parsed.locate(path, at) })
		}
	}
	return 'read'
}

/** Of every value, and of one in each map and list that is not there. */
function pathsOf(value: unknown, path: readonly PropertyKey[]): readonly (readonly PropertyKey[])[] {
	if (value === null || typeof value !== 'object') return [path]
	const steps = Array.isArray(value) ? [...value.keys(), 99] : [...Object.keys(value), 'absent']
	return [path, ...steps.flatMap((step) => pathsOf(Reflect.get(value, step) ?? null, [...path, step]))]
}

describe('readPlainYaml', () => {
	test('reads a usual watchlist as the YAML parser does', async () => {
		expect(await compare(usual)).toBe('read')
	})

	test('agrees with the YAML parser on whatever it reads, however a usual watchlist is spoilt', async () => {
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
		await fc.assert(
			fc.asyncProperty(fc.array(edit, { maxLength: 3 }), async (edits) => {
				const text = edits.reduce((all, { at, cut, put }) => all.slice(0, at) + put + all.slice(at + cut), usual)
				if ((await compare(text)) === 'read') read += 1
			}),
			{ numRuns: 1500 },
		)
		// Otherwise nothing was compared.
		expect(read).toBeGreaterThan(100)
	})

	test('agrees with the YAML parser on values of every kind', async () => {
		const value = fc.oneof(
			fc.stringMatching(/^[ -~]{0,8}$/),
			fc.stringMatching(/^\[[a-z0-9'", #:-]{0,10}\]( #x)?$/),
			fc.stringMatching(/^"[ -~]{0,6}"$/),
			fc.stringMatching(/^'[ -~]{0,6}'$/),
			fc.stringMatching(/^[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?[Z+-]?[0-9]{0,2}$/),
		)
		await fc.assert(
			fc.asyncProperty(value, value, async (one, other) => {
				await compare(`network: ${one}\nwatches:\n  - address: ${other}\n    label: ${one}\n`)
			}),
			{ numRuns: 3000 },
		)
	})

	test.each([
		['no list', 'network: ethereum\n'],
		['an empty list', 'watches:\n'],
		['the same key twice', 'watches:\n  - a: x\n    a: y\n'],
		['another indentation', 'watches:\n  - a: x\n   - a: y\n'],
		['an empty list before another', 'silences:\nwatches:\n  - a: x\n'],
		['entries without a key', 'watches:\n  - a: x\nnetwork: y\n  - b: z\n'],
		['a list of texts', 'watches:\n  - a\n'],
		['null', 'watches:\n  - a: null\n'],
		['an escape', 'watches:\n  - a: "\\n"\n'],
		['an anchor', 'watches:\n  - a: &x y\n'],
		['a block text', 'watches:\n  - a: |\n      y\n'],
		['a list in lines', 'watches:\n  - a:\n      - y\n'],
		['a second document', 'watches:\n  - a: x\n---\n'],
		['a carriage return', 'watches:\r\n  - a: x\r\n'],
	])('leaves %s to the YAML parser', async (_, text) => {
		expect(await readPlainYaml(text, turns)).toBeNull()
	})
})
