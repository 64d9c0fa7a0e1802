// Slips of the pen as people make them: the line that is to be mended, and the likely cause.
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { ConfigError } from '../../../src/errors.js'
import { temporaryFolder, writeFiles } from '../../support/folder.js'

const address = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
const settings = `networks: [{name: local, chain_id: 1, rpc: [https://n.example.org]}]
receivers: [{name: hook, type: webhook, url: "https://h.example.org/x"}]
`

async function problems(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
	const folder = temporaryFolder()
	writeFiles(folder, { 'tracewatch.yaml': settings, ...files })
	try {
		await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		return []
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		return error.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)
	}
}

const watches = (lines: string) => `network: local\nreceivers: [hook]\nwatches:\n${lines}`
const notKey = 'this is not a key with a value: write a colon and a space after the key'
const colon = 'this text contains a colon and a space: quote it, or correct the indentation of this line or the next'
const blank = 'this is not a plain space (text copied from web pages has such blanks): type a space'

describe('a watchlist', () => {
	test.each([
		['a decimal comma between braces', `  - {address: ${address}, min_value: 0,5}\n`, ['4:72: unknown key `5`']],
		['a label too far right', `  - address: ${address}\n     label: Treasury\n`, [`4:14: ${colon}`]],
		['no space after the colon', `  - address: ${address}\n    label:Treasury\n`, [`5:5: ${notKey}`]],
		['the same in the first line', `  - label:Treasury\n    address: ${address}\n`, [`4:5: ${notKey}`]],
		['a no-break space after the colon', `  - address: ${address}\n    label:\u00a0Treasury\n`, [`5:11: ${blank}`]],
		['no-break spaces before the key', `  - address: ${address}\n\u00a0\u00a0  label: Treasury\n`, [`5:1: ${blank}`]],
		['a no-break space before the address', `  - address:\u00a0${address}\n`, [`4:13: ${blank}`]],
		[
			'a merge key',
			`  - &base {address: ${address}, label: a}\n  - <<: *base\n    address: 0x${'1'.repeat(40)}\n`,
			['5:5: a merge key (`<<`) is not understood here: write its keys out'],
		],
		[
			'no space after the colon of an only key',
			`  - address:${address}\n`,
			['4:5: an entry of `watches` must be keys with values, not one text'],
		],
		[
			'an address without its key',
			`  - ${address}\n`,
			['4:5: an entry of `watches` must be keys with values, not one text'],
		],
		[
			'no dash before the keys',
			`  address: ${address}\n`,
			['4:3: `watches` must be a list, such as [a, b], not keys with values'],
		],
		[
			'a no-break space after the address',
			`  - address: ${address}\u00a0\n`,
			['4:14: `address` must be an address: character 43 of `0x742d35…` is not a hex digit'],
		],
		[
			'quotes of a word processor',
			`  - address: \u201c${address}\u201d\n`,
			['4:14: `address` must be an address: this does not begin with 0x, and an address is 0x and 40 hex digits'],
		],
	])('error: %s', async (_, lines, expected) => {
		expect(await problems({ 'watchlists/a.yaml': watches(lines) })).toEqual(expected)
	})

	test('default: such blanks may stand in a label', async () => {
		const lines = `  - address: ${address}\n    label: "50\u00a0ETH: a:b"\n`
		expect(await problems({ 'watchlists/a.yaml': watches(lines) })).toEqual([])
	})
})

test.each([
	['a header with semicolons', `address;label;tags\n${address};Treasury;cold\n${address};Treasury;cold\n`],
	['another order', `label;address\nTreasury;${address}\n`],
	['no header', `${address};Treasury;cold\n`],
	['tabs', `${address}\tTreasury\n`],
])('error: a file of addresses: %s', async (_, text) => {
	const list = 'network: local\nreceivers: [hook]\naddresses_from: x.csv\n'
	expect(await problems({ 'watchlists/a.yaml': list, 'watchlists/x.csv': text })).toEqual([
		'1:1: the file must be CSV: address, label, tags, separated by commas, in this order or as a header has it',
	])
})

test('error: $NAME without braces is reported in its line', async () => {
	const text = settings.replace('https://n.example.org', '$ETH_URL')
	const list = watches(`  - address: ${address}\n`)
	const [problem, ...others] = await problems({ 'tracewatch.yaml': text, 'watchlists/a.yaml': list })
	expect(problem).toMatch(/^1:45: .*without braces.*\$\{NAME\}/)
	expect(others).toEqual([])
})

const login = 'in a user or password write @ as %40, / as %2F, # as %23, % as %25'
test.each([
	// Without the @ of the path, the host would be a part of the password, and every message would name it.
	['a / in the password of a node', 'https://u:p@ss/w@n.example.org/x', '`rpc` is not a right URL', login],
	['a blank in a URL', '"https://n.example.org/ x"', '`rpc` has a blank or a line break in it', '%20'],
	['a line break after a URL', '"https://n.example.org/x\\n"', '`rpc` has a blank or a line break in it', '%20'],
	['doubled braces', '{{ .Values.url }}', 'a key is one word', 'is quoted'],
])('error: settings: %s, in words that say what to do', async (_, url, what, remedy) => {
	const text = settings.replace('https://n.example.org', url)
	const list = watches(`  - address: ${address}\n`)
	const found = await problems({ 'tracewatch.yaml': text, 'watchlists/a.yaml': list })
	expect(found).toEqual([expect.stringMatching(/^1:4[567]: /)])
	expect(found[0]).toContain(what)
	expect(found[0]).toContain(remedy)
	expect(found[0]).not.toContain('ss/w')
})

test('error: a / in the password of the database, which would else be taken for the host', async () => {
	const text = `${settings}state: postgres://u:p@ss/w@db.example.org/x\n`
	const list = watches(`  - address: ${address}\n`)
	expect(await problems({ 'tracewatch.yaml': text, 'watchlists/a.yaml': list })).toEqual([
		`3:8: \`state\` is not a right URL, such as postgres://user:password@host/database; ${login}`,
	])
})

test('security: a secret as an amount, or a line break in a name, is repeated by no message', async () => {
	const text = settings.replace('[{name: hook,', '[{name: b, type: email, fallback: none}, {name: "ho\\nok",')
	const lines = `  - {address: ${address}, min_value: "whsec_c2VjcmV0", balance_below: "1\\n2"}\n`
	const found = await problems({ 'tracewatch.yaml': text, 'watchlists/a.yaml': watches(lines) })
	expect(found.length).toBeGreaterThan(3)
	expect(found.filter((one) => one.includes('c2VjcmV0') || one.includes('\n'))).toEqual([])
})
