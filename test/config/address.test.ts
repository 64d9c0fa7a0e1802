import fc from 'fast-check'
import { Hash, Hex } from 'ox'
import { describe, expect, test } from 'vitest'
import { parseAddress, toChecksum } from '../../src/config/address.js'
import { parseYaml } from '../../src/config/yaml/yaml.js'
import type { Address } from '../../src/model/glossary.js'

const address = fc
	.uint8Array({ minLength: 20, maxLength: 20 })
	.map((bytes): Address => `0x${Buffer.from(bytes).toString('hex')}`)

/** A letter is large when its hex digit in keccak-256 of the text is 8 or more. */
function checksumOf(lower: Address, hashed: string): string {
	const hash = Hash.keccak256(Hex.fromString(hashed))
	const isUpper = (place: number) => Number.parseInt(hash[place + 2] ?? '', 16) >= 8
	return `0x${[...lower.slice(2)].map((digit, i) => (isUpper(i) ? digit.toUpperCase() : digit)).join('')}`
}

/** As the proposal words it. */
const eip55 = (lower: Address) => checksumOf(lower, lower.slice(2))

/** Every way in which YAML lets a text be written. */
const styles: Readonly<Record<string, (text: string) => string>> = {
	plain: (text) => `a: ${text}\n`,
	'single quotes': (text) => `a: '${text}'\n`,
	'double quotes': (text) => `a: "${text}"\n`,
	'flow map': (text) => `{a: ${text}}\n`,
	'flow map, quoted, as JSON': (text) => `{"a":"${text}"}`,
	'folded block': (text) => `a: >-\n  ${text}\n`,
	'literal block': (text) => `a: |-\n  ${text}\n`,
	'on a line of its own': (text) => `a:\n  ${text}\n`,
	'with a comment': (text) => `a: ${text} # cold\n`,
	'with an anchor': (text) => `a: &x ${text}\n`,
	'tagged as text': (text) => `a: !!str ${text}\n`,
	'in a Windows file': (text) => `# list\r\na: ${text}\r\n`,
	'after a byte order mark': (text) => `\ufeffa: ${text}\n`,
}

describe('an address in a file', () => {
	test.each(Object.entries(styles))('loads exactly, lower, upper or checksummed: %s', (_, write) => {
		fc.assert(
			fc.property(address, (lower) => {
				for (const spelling of [lower, eip55(lower), `0x${lower.slice(2).toUpperCase()}`]) {
					const parsed = parseYaml(write(spelling), 'a.yaml')
					if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
					expect(parsed.value).toEqual({ a: spelling })
					expect(parseAddress((parsed.value as { a: string }).a)).toBe(lower)
				}
			}),
			{ numRuns: 15 },
		)
	})

	test('a key stays exact too', () => {
		fc.assert(
			fc.property(address, (lower) => {
				const parsed = parseYaml(`${lower}: x\n`, 'a.yaml')
				expect('value' in parsed && parsed.value).toEqual({ [lower]: 'x' })
			}),
			{ numRuns: 30 },
		)
	})
})

describe('toChecksum', () => {
	test('is EIP-55', () => {
		fc.assert(
			fc.property(address, (lower) => {
				expect(toChecksum(lower)).toBe(eip55(lower))
			}),
			{ numRuns: 30 },
		)
		expect(toChecksum('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')).toBe('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')
	})
})

describe('parseAddress', () => {
	test.each([30, 31])('a checksum of EIP-1191 is right on its chain %i, and on one that is not known', (chainId) => {
		const lower = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'
		const written = checksumOf(lower, `${chainId}${lower}`)
		expect(parseAddress(written, chainId)).toBe(lower)
		expect(parseAddress(written)).toBe(lower)
		for (const other of [1, 30 + 31 - chainId]) expect(() => parseAddress(written, other)).toThrow('checksum')
	})

	test('error: an address with one letter in the wrong case is refused, with the right spelling', () => {
		fc.assert(
			fc.property(address, fc.nat(39), (lower, at) => {
				const right = eip55(lower)
				const digit = right[at + 2] ?? ''
				const other = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase()
				const wrong = right.slice(0, at + 2) + other + right.slice(at + 3)
				const digits = wrong.slice(2)
				fc.pre(other !== digit && digits !== digits.toLowerCase() && digits !== digits.toUpperCase())
				expect(() => parseAddress(wrong, 1)).toThrow(`write ${right}`)
			}),
		)
	})
})
