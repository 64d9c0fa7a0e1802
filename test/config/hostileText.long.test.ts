import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { parseAmount } from '../../src/base/amount.js'
import { loadConfig } from '../../src/config/load.js'
import { ConfigError } from '../../src/errors.js'
import { temporaryFolder } from '../support/folder.js'
import { timesOf } from '../support/processor.js'
import { expectBelow, soaked } from '../support/soak.js'

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
})

const settings = (network = '', receiver = '') => `networks:
  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"]${network}}
receivers:
  - {name: mail, type: email, smtp: "smtp://h", to: [a@b], ${receiver === '' ? 'from: a@b' : receiver}}
watchlists: [list.yaml]
`
const list = (rest: string) => `network: base\nreceivers: [mail]\n${rest}`
const address = `0x${'1'.repeat(40)}`
const entries = Array.from({ length: 2_000 }, (_, n) => `  - address: "0x${n.toString(16).padStart(40, '0')}"\n`)
const ordinary = list(`watches:\n${entries.join('')}`)

const readOrdinary = async () => expect(await saidOf({ list: ordinary })).toBe('right')

/** What was said. In the soak it takes at most ten times the processor time of a watchlist of 2,000 watches. */
async function load(files: Files): Promise<string> {
	let said = ''
	const read = async () => {
		said = await saidOf(files)
	}
	if (soaked(false, true)) expectBelow(await timesOf(10, read, readOrdinary), 10)
	else await read()
	return said
}

interface Files {
	readonly settings?: string
	readonly list?: string
	readonly csv?: string
}

async function saidOf(files: Files): Promise<string> {
	writeFileSync(join(folder, 'tracewatch.yaml'), files.settings ?? settings())
	writeFileSync(join(folder, 'list.yaml'), files.list ?? list('addresses_from: many.csv\n'))
	writeFileSync(join(folder, 'many.csv'), files.csv ?? address)
	const error = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder }).then(
		() => null,
		(thrown: unknown) => thrown,
	)
	if (error !== null && !(error instanceof ConfigError)) throw error
	return error?.message ?? 'right'
}

const repeated = (count: number, line: (index: number) => string) =>
	Array.from({ length: count }, (_, i) => line(i)).join('')
const bomb = () => {
	let text = 'a0: &a0 [x, x, x, x, x, x, x, x, x]\n'
	for (let level = 1; level < 12; level++)
		text += `a${level}: &a${level} [${Array(9)
			.fill(`*a${level - 1}`)
			.join(',')}]\n`
	return text
}

/** In the soak, which measures how long it takes, as many as make it slow; else more than any bound on their number. */
const thousands = soaked(2_000, 20_000)

describe('error: a file made to take minutes, or to end the process, is read as fast as an ordinary one', () => {
	test.each<[string, Files, RegExp]>([
		['thousands of unknown keys', { list: list(repeated(thousands, (i) => `key${i}: x\n`)) }, /unknown key `key0`/],
		[
			'thousands of unknown keys of a network',
			{ settings: settings(repeated(thousands, (i) => `, key${i}: x`)) },
			/unknown key/,
		],
		[
			'a key of 200,000 letters',
			{ list: list(`${'a'.repeat(200_000)}: x\n`) },
			/\(not shown, for it is no word\)|YAML/,
		],
		['a key of 900 letters', { list: list(`${'ab'.repeat(450)}: x\n`) }, /unknown key \(not shown/],
		[
			'thousands of times the same key',
			{ list: list(repeated(thousands, () => 'kinds: x\n')) },
			/`kinds` is written twice here/,
		],
		[
			'an amount of 100,000 zeros',
			{ list: list(`min_value: 0.${'0'.repeat(100_000)}1\nwatches: [{address: "${address}"}]\n`) },
			/`min_value`: an amount has at most 200 characters/,
		],
		[
			'a sender of 50,000 blanks',
			{ settings: settings('', `from: "a${' '.repeat(50_000)}b"`) },
			/`from` has more than 4096 characters/,
		],
		[
			'a sender of 4,000 blanks',
			{ settings: settings('', `from: "a${' '.repeat(4_000)}b"`) },
			/`from` must be a mail address/,
		],
		[
			'a schedule of all numbers',
			{ settings: settings(', schedule: "0-59999999999 * * * * *"') },
			/`schedule` is not a schedule: its numbers have two digits at most/,
		],
		[
			'a schedule of 5,000 fields',
			{ settings: settings(`, schedule: "${'* '.repeat(2_000)}"`) },
			/`schedule` must have six fields/,
		],
		[
			'aliases that unfold into 9^12 texts',
			{ list: list(bomb()) },
			/the aliases \(\*name\) of this file unfold into too much/,
		],
		[
			'thousands of aliases',
			{ list: list(`tags: [&a x, ${repeated(thousands, () => '*a, ')}]\n`) },
			/more than 1000 aliases/,
		],
		['5,000 maps in each other', { list: '{a: '.repeat(5_000) }, /nested too deep/],
		['50,000 lists in each other', { list: '['.repeat(50_000) }, /nested too deep/],
		['50,000 dashes in a line', { list: '- '.repeat(50_000) }, /nested too deep/],
		['thousands of commas', { list: `[${','.repeat(thousands)}` }, /this is not YAML/],
		['thousands of brackets', { list: '[]'.repeat(thousands) }, /this is not YAML/],
		['thousands of exclamation marks', { list: '! '.repeat(thousands) }, /this is not YAML/],
		['thousands of documents', { list: 'a\n---\n'.repeat(thousands) }, /a second document begins here/],
		[
			'thousands of variables',
			{ settings: settings(repeated(thousands, (i) => `, k${i}: "\${X}"`)) },
			/`X|\$\{X\} is not set/,
		],
		['a line of a megabyte', { csv: 'x'.repeat(1_000_000) }, /many.csv:1:1: this line has more than 65536 characters/],
		[
			'a quote that is never closed',
			{ csv: `${address},"${'x\n'.repeat(500_000)}` },
			/many.csv:1:44: this quote is never closed/,
		],
		[
			'200,000 wrong lines',
			{ csv: `address\n${'x\n'.repeat(200_000)}` },
			/further problems of this file are listed when these are corrected/,
		],
		['60,000 commas in a line', { csv: `${address}${','.repeat(60_000)}` }, /here is one more/],
	])('%s', async (_, files, words) => {
		const said = await load(files)
		expect(said).toMatch(words)
		expect(said.length).toBeLessThan(50_000)
	})

	test('amounts up to the bound are read exactly', () => {
		expect(parseAmount(`1${'0'.repeat(70)} wei`, 18)).toBe(10n ** 70n)
		expect(() => parseAmount('0'.repeat(201), 18)).toThrow(RangeError)
	})
})

describe('behavior: any text is either right or has problems with places', () => {
	const pieces = fc.constantFrom(
		...[
			'network: base\n',
			'receivers: [mail]\n',
			'watches:\n',
			'  - ',
			`address: "${address}"\n`,
			'    label: x\n',
			'&a ',
			'*a',
			'!x ',
			'? ',
			': ',
			'[',
			']',
			'{',
			'}',
			',',
			'"',
			"'",
			'|\n',
			'>-\n',
			'---\n',
			'%A b\n',
			'\t',
			'\r\n',
			'\u00a0',
			'\u0000',
			'\ufeff',
			'#',
			'0x',
			'${X}',
			'<<: ',
			'from: ',
			'min_value: ',
			'\u2028',
			'- ',
		],
	)
	const text = fc.oneof(
		fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
		fc.tuple(pieces, fc.integer({ min: 1, max: 5_000 })).map(([one, count]) => one.repeat(count)),
		fc
			.tuple(pieces, pieces, fc.integer({ min: 1, max: 3_000 }))
			.map(([one, other, count]) => (one + other).repeat(count)),
	)
	test.each(['settings', 'list', 'csv'] as const)('as %s', async (name) => {
		await fc.assert(
			fc.asyncProperty(text, async (content) => {
				const said = await load({ [name]: content })
				if (said === 'right') return
				for (const line of said.split('\n'))
					expect(line).toMatch(/^(tracewatch\.yaml|list\.yaml|many\.csv):\d+:\d+: \S/)
			}),
			{ numRuns: soaked(25, 150) },
		)
	})
})
