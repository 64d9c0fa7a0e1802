import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../../../src/config/load.js'
import { namesOf } from '../../../../src/config/names.js'
import { type AddressRow, readAddressFile } from '../../../../src/config/watchlists/addresses/addressFile.js'
import { followWatchlists } from '../../../../src/config/watchlists/followWatchlists.js'
import { watchFiles } from '../../../../src/config/watchlists/watchFiles.js'
import { readWatchlists } from '../../../../src/config/watchlists/watchlists.js'
import { ConfigError, formatProblem } from '../../../../src/errors.js'
import { temporaryFolder } from '../../../support/folder.js'
import { soaked } from '../../../support/soak.js'

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
	write({
		'tracewatch.yaml': `networks:
  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"]}
  - {name: ethereum, chain_id: 1, rpc: ["http://127.0.0.1:8545"]}
receivers:
  - {name: hook, type: webhook, url: "http://127.0.0.1:9000"}
  - {name: mail, type: email, smtp: "smtp://h", from: a@b, to: [a@b]}
`,
	})
})

function write(files: Readonly<Record<string, string | Buffer>>): void {
	for (const [name, content] of Object.entries(files)) {
		const path = join(folder, name)
		mkdirSync(dirname(path), { recursive: true })
		writeFileSync(path, content)
	}
}

const load = () => loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
const problemsOf = async (promise: Promise<unknown>) => {
	const error = await promise.catch((thrown: unknown) => thrown)
	if (!(error instanceof ConfigError)) throw error
	return error.message.split('\n')
}
const one = `0x${'1'.repeat(40)}` as const
const two = `0x${'2'.repeat(40)}` as const
const three = `0x${'3'.repeat(40)}` as const
const list = (...lines: string[]) => ['network: base', 'receivers: [hook]', ...lines, ''].join('\n')
const usual = {
	network: 'base',
	label: null,
	tags: [],
	kinds: [
		'transfer',
		'deployment',
		'call',
		'code',
		'request',
		'token',
		'withdrawal',
		'delegation',
		'control',
		'balance',
		'unexplained',
	],
	direction: 'both',
	minValueWei: 1n,
	receivers: ['hook'],
	fromBlock: null,
	watchlist: 'a.yaml',
}

describe('addresses_from', () => {
	test('default: beside the watchlist, every line is a watch with what the watchlist says', async () => {
		write({
			'watchlists/a.yaml': list('addresses_from: lists/exchange.csv'),
			'watchlists/lists/exchange.csv': `address,label,tags\n${one},"Exchange, main",cold;hot\n${two},,\n${three}\n`,
		})
		const { watches, watchlistFiles, addressFiles } = await load()
		expect([...watches]).toEqual([
			{ ...usual, address: one, label: 'Exchange, main', tags: ['cold', 'hot'] },
			{ ...usual, address: two },
			{ ...usual, address: three },
		])
		expect(watchlistFiles).toEqual([join(folder, 'watchlists/a.yaml')])
		expect(addressFiles).toEqual([join(folder, 'watchlists/lists/exchange.csv')])
	})

	test('behavior: options of the watchlist hold for all, options of an entry for its files, tags add up', async () => {
		write({
			'watchlists/a.yaml': list(
				'kinds: [transfer]',
				'direction: in',
				'min_value: 0.5',
				'from_block: 7',
				'tags: [exchange]',
				'addresses_from: [all.csv]',
				'watches:',
				'  - {addresses_from: [own.csv], direction: out, min_value: 1 wei, receivers: [mail], tags: [own]}',
				`  - {address: "${three}", kinds: [deployment], from_block: 9, tags: [third]}`,
			),
			'watchlists/all.csv': `${one},One,exchange cold`,
			'watchlists/own.csv': `${two}`,
		})
		const shared = {
			...usual,
			kinds: ['transfer'],
			direction: 'in',
			minValueWei: 500000000000000000n,
			fromBlock: 7n,
		}
		expect([...(await load()).watches]).toEqual([
			{ ...shared, address: two, direction: 'out', minValueWei: 1n, receivers: ['mail'], tags: ['exchange', 'own'] },
			{ ...shared, address: three, kinds: ['deployment'], fromBlock: 9n, tags: ['exchange', 'third'] },
			{ ...shared, address: one, label: 'One', tags: ['exchange', 'cold'] },
		])
	})

	test('behavior: the columns stand as the first line names them', async () => {
		write({
			'watchlists/a.yaml': list('addresses_from: x.csv'),
			'watchlists/x.csv': `\ufeffTags, Label ,ADDRESS\r\ncold,One,${one}\r\n`,
		})
		expect([...(await load()).watches]).toEqual([{ ...usual, address: one, label: 'One', tags: ['cold'] }])
	})

	test('behavior: on Rootstock addresses have its checksum, in a list and in a file', async () => {
		// Of chain 30, as EIP-1191 has it among its examples.
		const written = '0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD'
		const settings = readFileSync(join(folder, 'tracewatch.yaml'), 'utf8').replace('8453', '30')
		write({
			'tracewatch.yaml': settings,
			'watchlists/a.yaml': list(`watches: [{address: ${written}}]`),
			'watchlists/b.yaml': list('addresses_from: x.csv'),
			'watchlists/c.yaml': `network: ethereum\nreceivers: [hook]\nwatches: [{address: ${written}}]\n`,
			'watchlists/x.csv': written,
		})
		const [problem, ...others] = await problemsOf(load())
		expect(problem).toContain('watchlists/c.yaml:3:21: `address` has a wrong checksum')
		expect(others).toEqual([])
		// The chain is known also where another setting is wrong.
		write({ 'tracewatch.yaml': settings.replace('http://127.0.0.1:9000', '') })
		expect((await problemsOf(load())).map((line) => line.replace(/:.*/, ''))).toEqual([
			'tracewatch.yaml',
			'watchlists/c.yaml',
		])
	})

	test('error: a file for two networks: a fault for the second network alone is reported', async () => {
		// Right on chain 30 (EIP-1191), and on no other.
		const written = '0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD'
		write({
			'tracewatch.yaml': readFileSync(join(folder, 'tracewatch.yaml'), 'utf8').replace('8453', '30'),
			'watchlists/a.yaml': list('addresses_from: ../x.csv'),
			'watchlists/b.yaml': 'network: ethereum\nreceivers: [hook]\naddresses_from: ../x.csv\n',
			'x.csv': written,
		})
		const [problem, ...others] = await problemsOf(load())
		expect(problem).toContain('x.csv:1:1: `address` has a wrong checksum')
		expect(others).toEqual([])
	})

	test('error: a file for two networks that changes between its readings is read again', async () => {
		write({
			'watchlists/a.yaml': list('addresses_from: ../x.csv'),
			'watchlists/b.yaml': 'network: ethereum\nreceivers: [hook]\naddresses_from: ../x.csv\n',
			'x.csv': one,
		})
		const { watchlists, networks, receivers } = await load()
		const names = namesOf({ networks, receivers })
		let readings = 0
		async function* chunks(path: string) {
			if (path.endsWith('.csv')) readings += 1
			yield Buffer.from(readings === 2 && path.endsWith('.csv') ? `${one}\n0x${'7'.repeat(40)}\n` : readFileSync(path))
		}
		const read = await readWatchlists(watchlists, names, folder, { chunks })
		expect(read.watches).toBeNull()
		expect(read.problems.map(formatProblem)).toEqual(['x.csv:1:1: the file changed while it was read: read it again'])
		expect(read.contents.at(-1)).toEqual({ path: join(folder, 'x.csv'), digest: null })
	})

	test('behavior: the same file of addresses serves several networks', async () => {
		write({
			'watchlists/a.yaml': list('addresses_from: ../x.csv'),
			'watchlists/b.yaml': 'network: ethereum\nreceivers: [hook]\naddresses_from: ../x.csv\n',
			'x.csv': one,
		})
		const { watches, addressFiles } = await load()
		expect([...watches].map(({ network, address }) => [network, address])).toEqual([
			['base', one],
			['ethereum', one],
		])
		expect(addressFiles).toEqual([join(folder, 'x.csv')])
	})

	test.each<[string, string | Buffer, readonly string[]]>([
		[
			'an address that is none',
			`${one}\nTreasury,x`,
			['2:1: `address` must be an address: this does not begin with 0x, and an address is 0x and 40 hex digits'],
		],
		[
			'a wrong checksum',
			`label,address\nx, 0x742d35CC6634C0532925a3b844Bc454e4438f44e`,
			[
				'2:4: `address` has a wrong checksum: if no digit is mistyped, ' +
					'write 0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
			],
		],
		['no address', `${one}\n,x`, ['2:1: `address` is missing']],
		['no address at its column', `label,address\nx`, ['2:1: `address` is missing']],
		[
			'another separator',
			`${one};x`,
			['1:1: the file must be CSV: address, label, tags, separated by commas, in this order or as a header has it'],
		],
		[
			'a column too many',
			`${one},a,b,c`,
			['1:48: the columns are address, label, tags, and here is one more: take it out, or quote a label with a comma'],
		],
		[
			'columns named in another language',
			'Adresse,Bezeichnung\n0x70997970C51812dc3A010C7d01b50e0d17dc79C8,1\n',
			['1:1: the file must be CSV: address, label, tags, separated by commas, in this order or as a header has it'],
		],
		[
			'columns as another program names them',
			'Name,Wallet address\n0x70997970C51812dc3A010C7d01b50e0d17dc79C8,1\n',
			['1:1: the file must be CSV: address, label, tags, separated by commas, in this order or as a header has it'],
		],
		[
			'columns in another script',
			'地址,标签\n0x70997970C51812dc3A010C7d01b50e0d17dc79C8,1\n',
			['1:1: the file must be CSV: address, label, tags, separated by commas, in this order or as a header has it'],
		],
		[
			'an unknown column',
			`address,lable\n${one},x`,
			['1:9: unknown column `lable`; did you mean `label`?; the columns are address, label, tags'],
		],
		['a column twice', `address,address\n${one},${two}`, ['1:9: the column `address` is listed twice']],
		[
			'a hidden character',
			`${one},"a\u202eb",c\u0007`,
			[
				'1:44: `label` must be one line without control characters',
				'1:50: `tags` must be one line without control characters',
			],
		],
		['a line break in a label', `${one},"a\nb"\n${one}`, ['1:44: `label` must be one line without control characters']],
		[
			'an address twice',
			`${one}\n\n${two}\n${one}`,
			['4:1: this address is already listed in line 1; list an address once'],
		],
		['a quote that is never closed', `${one},"x\n${two}`, ['1:44: this quote is never closed']],
		[
			'a quote that is never closed, and nothing after it',
			`${one}\n${two},"c\nd\n`,
			['2:44: this quote is never closed'],
		],
		[
			'a quote that is closed much later',
			`${one}\n${two},"${'x\n'.repeat(40_000)}"\n`,
			['2:44: this quote is never closed'],
		],
		[
			'a line without an end',
			`${one}\n${two},${'x'.repeat(70_000)}`,
			['2:44: this line has more than 65536 characters'],
		],
		[
			'text after a closing quote',
			`${one},"b"c\n${two}`,
			['1:44: after a closing quote comes a comma or the end of the line'],
		],
		[
			'a blank and text after a closing quote',
			`${one},"b" c\n${two}`,
			['1:44: after a closing quote comes a comma or the end of the line'],
		],
		[
			'text after a closing quote two lines further',
			`${one}\n${two},"b\nc\nd"e`,
			['2:44: after a closing quote comes a comma or the end of the line'],
		],
		[
			'a quote inside a text',
			`${one},6" pipe,b`,
			['1:44: quote a text that contains quotes, and double each quote inside'],
		],
		[
			'bytes that are no UTF-8',
			Buffer.from([0x30, 0x78, 0xff]),
			['1:1: the file is not text in UTF-8: save it in that encoding'],
		],
		['no address at all', 'address,label\n', ['1:1: the file holds no address']],
		['nothing', '', ['1:1: the file holds no address']],
	])('error: %s', async (_, csv, problems) => {
		write({ 'watchlists/a.yaml': list('addresses_from: x.csv'), 'watchlists/x.csv': csv })
		expect(await problemsOf(load())).toEqual(problems.map((problem) => `watchlists/x.csv:${problem}`))
	})

	test.each<[string, readonly string[], readonly string[]]>([
		[
			'a file that is not there',
			['addresses_from: y.csv'],
			['watchlists/y.csv:1:1: the file cannot be read: it does not exist'],
		],
		[
			'a file twice',
			['addresses_from: [x.csv, ./x.csv]'],
			['watchlists/a.yaml:3:25: the file `./x.csv` is already listed in this watchlist'],
		],
		[
			'an address of the list',
			['addresses_from: x.csv', `watches: [{address: "${one}"}]`],
			['watchlists/x.csv:1:1: this address is already listed in watchlists/a.yaml:4; list an address once'],
		],
		[
			'an address of an entry that has another mistake',
			['addresses_from: x.csv', `watches: [{address: "${one}", lable: x}]`],
			[
				'watchlists/x.csv:1:1: this address is already listed in watchlists/a.yaml:4; list an address once',
				'watchlists/a.yaml:4:67: unknown key `lable`; did you mean `label`?',
			],
		],
		[
			'two entries, both with a mistake',
			[`watches: [{address: "${one}", direction: up}, {address: "${one}", lable: x}]`],
			[
				'watchlists/a.yaml:3:78: `direction` must be in, out or both, not `up`',
				'watchlists/a.yaml:3:93: this address is already listed in line 3; list an address once',
				'watchlists/a.yaml:3:139: unknown key `lable`; did you mean `label`?',
			],
		],
		[
			'an address of another file',
			['addresses_from: [x.csv, z.csv]'],
			['watchlists/z.csv:2:1: this address is already listed in watchlists/x.csv:1; list an address once'],
		],
		[
			'options that only a single watch has',
			['watches: [{addresses_from: x.csv, label: x}]'],
			['watchlists/a.yaml:3:35: unknown key `label`'],
		],
		[
			'an option that is wrong for all',
			['addresses_from: x.csv', 'min_value: lots', 'direction: inn'],
			[
				'watchlists/a.yaml:4:12: `min_value`: `lots` is not an amount; write whole coins such as 0.5, ' +
					'or a unit: 250 gwei, 1 wei',
				'watchlists/a.yaml:5:12: `direction` must be in, out or both, not `inn`; did you mean `in`?',
			],
		],
		['neither watches nor a file', ['tags: [x]'], ['watchlists/a.yaml:1:1: `watches` is missing']],
	])('error: %s', async (_, lines, problems) => {
		write({ 'watchlists/a.yaml': list(...lines), 'watchlists/x.csv': one, 'watchlists/z.csv': `${two}\n${one}` })
		expect(await problemsOf(load())).toEqual(problems)
	})

	test('error: an address file without a receiver', async () => {
		write({ 'watchlists/a.yaml': 'network: base\naddresses_from: x.csv\n', 'watchlists/x.csv': one })
		expect(await problemsOf(load())).toEqual([
			'watchlists/a.yaml:2:17: this watch has no receiver: name `receivers` here, or for the whole watchlist',
		])
	})

	test('error: of a file that is all wrong, only so much as a person reads', async () => {
		const lines = Array.from({ length: 200 }, (_, index) => `0x${index}`)
		write({
			'watchlists/a.yaml': list('addresses_from: x.csv'),
			'watchlists/x.csv': lines.join('\n'),
			'watchlists/b.yaml': list('watches:', ...lines.map((address) => `  - address: ${address}`)),
		})
		const problems = await problemsOf(load())
		expect(problems).toHaveLength(202)
		expect(problems[100]).toBe(
			'watchlists/b.yaml:103:14: further problems of this file are listed when these are corrected',
		)
		expect(problems[201]).toBe(
			'watchlists/x.csv:100:1: further problems of this file are listed when these are corrected',
		)
	})
})

describe('readAddressFile', () => {
	/** Reads a file that comes in these pieces. Problems as `line:column: message`. */
	async function read(...pieces: readonly Uint8Array[]) {
		const rows: AddressRow[] = []
		async function* chunks() {
			yield* pieces
		}
		const { problems } = await readAddressFile('/x.csv', { cwd: '/', chunks }, (row) => rows.push(row))
		return { rows, problems: problems.map(({ line, column, message }) => `${line}:${column}: ${message}`) }
	}

	test('a file as RFC 4180 says, in any pieces: each row is read, and the place of each field known', async () => {
		const unit = fc.constantFrom('a', 'ß', ',', '"', '\n', '\r\n', ';', '#', ' ')
		const text = fc.string({ unit, maxLength: 6 }).map((one) => one.trim())
		const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 40, maxLength: 40 })
		const written = (content: fc.Arbitrary<string>) =>
			fc.record({ content, isQuoted: fc.boolean() }).map(({ content, isQuoted }) => ({
				content,
				written: isQuoted || /[",\r\n#]/.test(content) ? `"${content.replaceAll('"', '""')}"` : content,
			}))
		const address = written(digits.map((one) => `0x${one}`))
		const record = fc.record({ address, label: written(text), tags: written(text) })
		const names = ['address', 'label', 'tags'] as const
		const form = fc.record({
			columns: fc.shuffledSubarray([...names]).filter((columns) => columns.includes('address')),
			newline: fc.constantFrom('\n', '\r\n'),
			isEnded: fc.boolean(),
			size: fc.integer({ min: 1, max: 40 }),
		})
		const between = fc.constantFrom('', '  ', '# a, "comment')
		const cases = fc.array(fc.tuple(between, record), { minLength: 1, maxLength: 10 })
		const property = fc.asyncProperty(cases, form, async (records, { columns, newline, isEnded, size }) => {
			const lines: string[] = [columns.join(',')]
			const rows: unknown[] = []
			const problems: string[] = []
			let line = 2
			for (const [gap, fields] of records) {
				if (gap !== '') line += 1
				if (gap !== '') lines.push(gap)
				let column = 1
				const places = new Map<string, { line: number; column: number }>()
				for (const name of columns) {
					places.set(name, { line, column })
					const parts = fields[name].written.split('\n')
					if (parts.length > 1) column = 1
					line += parts.length - 1
					column += (parts.at(-1)?.length ?? 0) + 1
				}
				line += 1
				lines.push(columns.map((name) => fields[name].written).join(','))
				const label = columns.includes('label') ? fields.label.content : ''
				const tags = columns.includes('tags') ? fields.tags.content.replaceAll(/\s/g, ';').split(';') : []
				const at = places.get('label')
				if (label.includes('\n'))
					problems.push(`${at?.line}:${at?.column}: \`label\` must be one line without control characters`)
				else
					rows.push({
						address: fields.address.content,
						label: label === '' ? null : label,
						tags: [...new Set(tags)].filter((tag) => tag !== ''),
						place: places.get('address'),
					})
			}
			const bytes = Buffer.from(lines.join(newline) + (isEnded ? newline : ''))
			const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
				bytes.subarray(index * size, (index + 1) * size),
			)
			expect(await read(...pieces)).toEqual({ rows, problems })
		})
		await fc.assert(property, { numRuns: soaked(40, 500) })
	})

	test.each<[string, string, readonly (readonly [label: string | null, ...tags: string[]])[]]>([
		['empty lines and comments are left out', `${one},a\n\n  \n# b,"c\n${one},d`, [['a'], ['d']]],
		['blanks around a field are dropped', ` ${one} , b\t,"  c d " `, [['b', 'c', 'd']]],
		['an empty field is none', `${one},,\n${one},,b`, [[null], [null, 'b']]],
		['a # in quotes is no comment', `label,address\n"#a",${one}`, [['#a']]],
		['a # in a text is no comment', `${one},a#b,c #d`, [['a#b', 'c', '#d']]],
	])('%s', async (_, text, rows) => {
		const found = await read(Buffer.from(text))
		expect(found.problems).toEqual([])
		expect(found.rows.map(({ label, tags }) => [label, ...tags])).toEqual(rows)
	})
})

describe('followWatchlists', () => {
	test('an edited address file is noticed, also while the watchlists are wrong, and takes effect', async () => {
		write({ 'watchlists/a.yaml': list('addresses_from: x.csv'), 'watchlists/x.csv': one })
		const lists = followWatchlists(await load(), { cwd: folder })
		const stop = new AbortController()
		let changed: () => void = () => {}
		let changes = 0
		const next = () =>
			new Promise<void>((resolve) => {
				changed = resolve
			})
		const watching = watchFiles({
			paths: lists.paths,
			revision: lists.revision,
			onChange: () => {
				changes += 1
				changed()
			},
			intervalMs: 20,
			settleMs: 20,
			signal: stop.signal,
		})
		const labels = async () => [...(await lists.load()).watches].map(({ label }) => label)

		let change = next()
		write({ 'watchlists/x.csv': `${one},One` })
		await change
		expect(await labels()).toEqual(['One'])

		// A file that was not there before, and is wrong.
		change = next()
		write({ 'watchlists/a.yaml': list('addresses_from: [x.csv, y.csv]'), 'watchlists/y.csv': '0x' })
		await change
		await expect(lists.load()).rejects.toThrow(ConfigError)
		change = next()
		write({ 'watchlists/y.csv': `${two},Two` })
		await change
		expect(await labels()).toEqual(['One', 'Two'])

		// Read, wrong or right, is told: nothing more comes until something is edited.
		const quiet = changes
		await new Promise((resolve) => setTimeout(resolve, 150))
		expect(changes).toBe(quiet)
		stop.abort()
		await watching
	})

	test('the revision is the same for the same files, and another for another file of addresses', async () => {
		write({ 'watchlists/a.yaml': list('addresses_from: x.csv'), 'watchlists/x.csv': one })
		const { revision } = await load()
		expect((await load()).revision).toBe(revision)
		write({ 'watchlists/x.csv': two })
		expect((await load()).revision).not.toBe(revision)
	})
})
