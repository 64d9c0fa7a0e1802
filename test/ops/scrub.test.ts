import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createScrubber } from '../../src/ops/scrub.js'
import { codePoint } from '../support/codePoint.js'
import { timesOf } from '../support/processor.js'
import { testInSoak } from '../support/soak.js'

function scrubberOf(...secrets: string[]) {
	const scrubber = createScrubber()
	scrubber.add(secrets)
	return scrubber
}

/** No half of a surrogate pair. */
function wellFormed(text: string): boolean {
	return !/\p{Surrogate}/u.test(text)
}

/** Secrets as people have them: printable, odd characters included, not so plain that the mark itself holds them. */
const secret = fc
	.string({ unit: codePoint, minLength: 6, maxLength: 40 })
	.filter((text) => !'[secret]'.includes(text) && wellFormed(text))
const around = fc.string({ unit: codePoint, maxLength: 12 }).filter(wellFormed)

describe('clean', () => {
	test('default: replaces a secret and leaves the rest', () => {
		expect(scrubberOf('hunter2hunter2').clean('the key hunter2hunter2 is refused')).toBe('the key [secret] is refused')
	})

	test('default: text without a secret is returned unchanged', () => {
		fc.assert(
			fc.property(around, (text) => {
				expect(scrubberOf('Xy7-never-in-there').clean(text)).toBe(text)
			}),
			{ numRuns: 30 },
		)
	})

	test('behavior: the user of a database that needs no password is a name, and stays', () => {
		const url = 'postgres://tracewatch@db.example.org/tracewatch'
		expect(scrubberOf(url).clean(`tracewatch is running; ${url}`)).toBe('tracewatch is running; [secret]')
	})

	test('behavior: nothing registered, nothing changed', () => {
		expect(createScrubber().clean('hunter2hunter2')).toBe('hunter2hunter2')
	})

	test('behavior: hides any secret as it is, percent-encoded, in JSON, in JSON in JSON, in HTML', () => {
		fc.assert(
			fc.property(secret, around, around, (text, before, after) => {
				const html = text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
				const forms = [
					html,
					text,
					encodeURIComponent(text),
					encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
					encodeURIComponent(encodeURIComponent(text)),
					JSON.stringify(JSON.stringify(JSON.stringify(text))).slice(7, -7),
					new URLSearchParams({ '': text }).toString().slice(1),
					JSON.stringify(text).slice(1, -1),
					JSON.stringify(JSON.stringify(text)).slice(3, -3),
				]
				const { clean } = scrubberOf(text)
				for (const form of forms) {
					const cleaned = clean(`${before}|${form}|${after}`)
					expect(cleaned).not.toContain(`|${form}|`)
					expect(cleaned).toContain('[secret]')
				}
			}),
			{ numRuns: 25 },
		)
	})

	test('behavior: hides any secret in base64, whatever stands before and after it in there', () => {
		fc.assert(
			fc.property(
				secret,
				fc.uint8Array({ maxLength: 7 }),
				fc.uint8Array({ maxLength: 7 }),
				fc.constantFrom('base64', 'base64url'),
				(text, before, after, encoding) => {
					const bytes = Buffer.concat([before, Buffer.from(text), after])
					const cleaned = scrubberOf(text).clean(`header ${bytes.toString(encoding as BufferEncoding)}`)
					expect(cleaned).toContain('[secret]')
					// At an edge, a character may be left that holds less than six bits of the secret's first or last byte.
					const left = cleaned.replace('header ', '').replace('[secret]', '').replaceAll('=', '').length
					expect(left).toBeLessThanOrEqual(Math.ceil((before.length * 8) / 6) + Math.ceil((after.length * 8) / 6) + 1)
				},
			),
			{ numRuns: 25 },
		)
	})

	test('behavior: a Basic authorization made of a secret password is hidden', () => {
		const header = `Basic ${Buffer.from('alice:correct horse').toString('base64')}`
		const cleaned = scrubberOf('correct horse').clean(header)
		expect(Buffer.from(cleaned.slice(6), 'base64').toString()).not.toContain('orrect hors')
	})

	test('behavior: of two secrets that overlap in a text nothing is left of either', () => {
		expect(scrubberOf('abcdef123', '123ghijkl').clean('<abcdef123ghijkl>')).toBe('<[secret]>')
	})

	test('behavior: of two secrets that begin alike the longer one is hidden whole', () => {
		expect(scrubberOf('abcdef', 'abcdef-ghijkl').clean('abcdef-ghijkl abcdef')).toBe('[secret] [secret]')
	})

	test('behavior: no character that belongs to a secret survives, however the secrets overlap', () => {
		const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 9 })
		fc.assert(
			fc.property(
				fc.array(word, { minLength: 1, maxLength: 4 }),
				fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 60 }),
				(words, text) => {
					const covered = new Array<boolean>(text.length).fill(false)
					for (const each of words)
						for (let at = text.indexOf(each); at >= 0; at = text.indexOf(each, at + 1))
							covered.fill(true, at, at + each.length)
					const left = Array.from(text, (character, at) => (covered[at] ? '' : character)).join('')
					expect(
						scrubberOf(...words)
							.clean(text)
							.replaceAll('[secret]', ''),
					).toBe(left)
				},
			),
			{ numRuns: 40 },
		)
	})

	test('behavior: cleaning twice changes nothing more', () => {
		fc.assert(
			fc.property(secret, around, (text, before) => {
				const { clean } = scrubberOf(text)
				const once = clean(before + text + before)
				expect(clean(once)).toBe(once)
			}),
			{ numRuns: 30 },
		)
	})

	testInSoak('behavior: hundreds of secrets cost a line little more than two', async () => {
		const [two, many] = [2, 200].map((length) =>
			scrubberOf(...Array.from({ length }, (_, n) => `key-${n * 7919}-of-an-endpoint/${n}`)),
		)
		const line = JSON.stringify({ level: 'info', msg: 'polled', hash: '0x'.padEnd(66, 'ab'), rest: 'x'.repeat(200) })
		const cleaned = (scrubber: typeof two) => () => {
			for (let n = 0; n < 2000; n += 1) scrubber?.clean(line)
		}
		// A hundred times as many: a search for each of them alone would show.
		const times = await timesOf(50, cleaned(many), cleaned(two))
		expect(times).toBeLessThan(50)
	})
})

describe('add', () => {
	test('behavior: a key of any length is hidden whole', () => {
		const long = Array.from({ length: 801 }, (_, n) => n.toString(36)).join('-')
		const cleaned = scrubberOf(long).clean(`<${JSON.stringify(long)}>`)
		expect(cleaned.replaceAll('[secret]', '')).toBe('<"">')
	})

	test('behavior: secrets added later are hidden as well, and none is forgotten', () => {
		const scrubber = scrubberOf('first-secret')
		scrubber.add(['second-secret'])
		expect(scrubber.clean('first-secret second-secret')).toBe('[secret] [secret]')
	})

	test('behavior: a secret of less than six characters is left out', () => {
		expect(scrubberOf('admin', 'sixsix', '').clean('admin sixsix')).toBe('admin [secret]')
	})

	const url = 'https://user:pa%24%24word@node.example.org/K3Y-0123456789ab/evm?apikey=Q99887766'
	test.each([
		['the URL', url, 'at https://[secret]@node.example.org[secret]?[secret]'],
		['its password', 'pa$$word', 'at [secret]'],
		['its password, encoded', 'pa%24%24word', 'at [secret]'],
		['its path', '/K3Y-0123456789ab/evm', 'at [secret]'],
		['the key in its path', 'K3Y-0123456789ab', 'at [secret]'],
		['the key in its query', 'Q99887766', 'at [secret]'],
		['its host', 'node.example.org', 'at node.example.org'],
		['a plain word of its path', 'evm', 'at evm'],
		['its user name', 'user', 'at user'],
	])('behavior: of a URL it knows %s', (_, text, expected) => {
		expect(scrubberOf(url).clean(`at ${text}`)).toBe(expected)
	})

	test.each([
		['https://node.example.org/ethereum', 'polling ethereum on node.example.org'],
		['https://node.example.org/eth-mainnet/abcdef0123456789abcd', 'polling eth-mainnet'],
		['https://node.example.org', 'https://node.example.org'.slice(8)],
	])('behavior: %s does not hide the words it is made of', (known, text) => {
		expect(scrubberOf(known).clean(text)).toBe(text)
	})

	test('behavior: a token that stands as the user name of a URL is hidden', () => {
		expect(scrubberOf('https://tok-123456@node.example.org/').clean('tok-123456')).toBe('[secret]')
	})

	test('behavior: of a URL in the query of another the key alone is hidden', () => {
		const { clean } = scrubberOf('https://relay.example.org/?url=https%3A%2F%2Fnode.example.org%2FK3Y-0123456789ab')
		expect(clean('K3Y-0123456789ab of node.example.org')).toBe('[secret] of node.example.org')
	})

	test('behavior: the token of a bot is hidden without its number too, and where it was cut', () => {
		const { clean } = scrubberOf(
			'https://api.example.org/bot123456789:AAHmarkedBotToken_0123456789-abcdefgh/sendMessage',
		)
		expect(clean('AAHmarkedBotToken_0123456789-abcdefgh')).toBe('[secret]')
		expect(clean('AAHmarkedBotToken_0123456789-abc')).toBe('[secret]')
		expect(clean('a BotToken marked treasury')).toBe('a BotToken marked treasury')
	})

	test('behavior: the key of a webhook secret is hidden without its prefix too', () => {
		expect(scrubberOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').clean('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(
			'[secret]',
		)
	})
})
