// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { jsonSchema } from '../../src/config/jsonSchema.js'
import { loadConfig } from '../../src/config/load.js'
import { temporaryFolder } from '../support/folder.js'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8')

interface Row {
	readonly key: string
	readonly form: string
	readonly standard: string
	readonly meaning: string
	readonly example: string
}

/** The rows of the table under each heading, with the heading of the chapter before it. */
function tables(): ReadonlyMap<string, readonly Row[]> {
	const found = new Map<string, Row[]>()
	let [chapter, heading] = ['', '']
	for (const line of page.split('\n')) {
		const [, level, title = ''] = /^(##+) (.*)$/.exec(line) ?? []
		if (level === '##') [chapter, heading] = [title, '']
		if (level === '###') heading = title
		const cells = line.split('|').map((cell) => cell.trim())
		const [, key = '', form = '', standard = '', meaning = '', example = ''] = cells
		if (!/^`\w+`$/.test(key)) continue
		expect(cells, line).toHaveLength(7)
		const name = `${chapter}: ${heading}`
		const rows = found.get(name) ?? []
		found.set(name, [
			...rows,
			{ key: key.slice(1, -1), form, standard, meaning, example: example.replace(/^`(.*)`$/, '$1') },
		])
	}
	return found
}

interface Schema {
	readonly properties: Readonly<Record<string, { readonly description?: string }>>
	readonly required?: readonly string[]
	readonly definitions: Readonly<Record<string, Schema>>
}
const config = jsonSchema('config') as Schema
const watchlist = jsonSchema('watchlist') as Schema
const sections: Readonly<Record<string, Schema | undefined>> = {
	'tracewatch.yaml: The file': config,
	'tracewatch.yaml: A network': config.definitions.network,
	'tracewatch.yaml: A receiver by mail': config.definitions.email,
	'tracewatch.yaml: A receiver by webhook': config.definitions.webhook,
	'tracewatch.yaml: A digest': config.definitions.digest,
	'Watchlists: The file': watchlist,
	'Watchlists: A watch': watchlist.definitions.watch,
	'Watchlists: An entry with files of addresses': watchlist.definitions.addresses,
}

let folder: string
beforeEach(() => {
	folder = temporaryFolder()
})

function write(files: Readonly<Record<string, string>>): void {
	for (const [name, content] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, name)), { recursive: true })
		writeFileSync(join(folder, name), content)
	}
}

/** Keys with values in one line each, at some depth; a `- ` before the first where they are an entry of a list. */
function block(keys: ReadonlyMap<string, string>, indent: string, dash: boolean): string {
	return [...keys.values()]
		.map((line, index) => `${indent}${dash ? (index === 0 ? '- ' : '  ') : ''}${line}\n`)
		.join('')
}

const keysOf = (...lines: string[]) => new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line]))
const needs: Readonly<Record<string, readonly string[]>> = {
	'A watch: failed_calls': ['calls: ["pause()"]'],
	'An entry with files of addresses: failed_calls': ['calls: ["pause()"]'],
	'A receiver by webhook: topic': ['format: ntfy'],
	'A receiver by webhook: routing_key': ['format: pagerduty'],
}
const file = '0x1111111111111111111111111111111111111111\n'

/** A whole configuration in which the section has the key of this example. */
function configurationWith(section: string, { key, example }: Row): Readonly<Record<string, string>> {
	const parts: Record<string, Map<string, string>> = {
		'The file': new Map(),
		'A network': keysOf('name: ethereum', 'chain_id: 1', 'rpc: ["http://h"]'),
		'A receiver by mail': keysOf('name: ops-mail', 'type: email', 'smtp: smtp://h', 'from: a@b', 'to: [a@b]'),
		'A receiver by webhook': keysOf('name: ops-hook', 'type: webhook', 'url: http://h'),
		'A digest': new Map(),
	}
	const list = keysOf('network: ethereum', 'receivers: [ops-mail, ops-hook]')
	const watch = keysOf('address: "0x2222222222222222222222222222222222222222"')
	const entry = keysOf('addresses_from: other.csv')
	const [chapter, title = ''] = section.split(': ')
	const target = chapter === 'tracewatch.yaml' ? parts[title] : ({ 'The file': list, 'A watch': watch }[title] ?? entry)
	for (const line of [...(needs[`${title}: ${key}`] ?? []), example])
		target?.set(line.slice(0, line.indexOf(':')), line)
	const lineOf = (name: string) => parts[name] ?? new Map<string, string>()
	const flow = (name: string) => `{${[...lineOf(name).values()].join(', ')}}`
	if (title === 'A digest') lineOf('A receiver by mail').set('digest', `digest: ${flow(title)}`)
	const item = (name: string) => block(lineOf(name), '  ', true)
	const receivers = `${item('A receiver by mail')}${item('A receiver by webhook')}`
	const settings = `networks:\n${item('A network')}receivers:\n${receivers}${block(lineOf('The file'), '', false)}`
	const watches = list.has('watches') ? '' : `watches:\n${block(watch, '  ', true)}${block(entry, '  ', true)}`
	const lists = `${block(list, '', false)}${watches}`
	return {
		'tracewatch.yaml': settings,
		'watchlists/a.yaml': lists,
		// Where the example names the watchlists itself.
		'treasury.yaml': lists,
		'exchange.yaml': lists,
		...Object.fromEntries(
			['', 'watchlists/'].flatMap((at) => [
				[`${at}exchange.csv`, file],
				[`${at}suspects.csv`, file.replaceAll('1', '3')],
				[`${at}other.csv`, file.replaceAll('1', '4')],
			]),
		),
	}
}

type Bounds = [key: string, section: string, ends: readonly string[], beyond: readonly string[]]

/** Of the forms that name a first and a last value. */
function bounds(): readonly Bounds[] {
	const shifted = (value: string, by: number) => value.replace(/^\d+/, (digits) => String(Number(digits) + by))
	return [...tables()].flatMap(([section, rows]) =>
		rows.flatMap(({ key, form }): Bounds[] => {
			const [, least] = /^text of (\d+) characters or more$/.exec(form) ?? []
			if (least !== undefined) return [[key, section, ['x'.repeat(Number(least))], ['x'.repeat(Number(least) - 1)]]]
			const [, low, high] = /, `?(\d+\w*)`? to `?(\d+\w*)`?$/.exec(form) ?? []
			if (low === undefined || high === undefined) return []
			return [[key, section, [low, high], [shifted(low, -1), shifted(high, 1)]]]
		}),
	)
}

describe('docs/configuration.md', () => {
	test('names the bounds of several keys', () => {
		expect(bounds().length).toBeGreaterThan(2)
	})

	test.each(Object.entries(sections))(
		'%s: every key of the schema, its default, and an example that loads',
		async (section, schema) => {
			const rows = tables().get(section) ?? []
			expect(rows.map(({ key }) => key).sort()).toEqual(Object.keys(schema?.properties ?? {}).sort())
			for (const row of rows) {
				const description = schema?.properties[row.key]?.description ?? ''
				const standard = schema?.required?.includes(row.key)
					? 'required'
					: (/Default: (.*?)\.?$/.exec(description)?.[1] ?? 'not in the schema')
				// Lists whose entries have tables of their own.
				const isList = schema === config && (row.key === 'networks' || row.key === 'receivers')
				expect(row.standard.replaceAll('`', ''), row.key).toBe(standard)
				expect(row.form, row.key).not.toBe('')
				if (isList) continue
				expect(row.example, row.key).toMatch(new RegExp(`^${row.key}: .`))
				write(configurationWith(section, row))
				await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
			}
		},
	)

	test.each(bounds())('%s of %s: %s is taken, %s is not', async (key, section, ends, beyond) => {
		const load = async (value: string) => {
			const row = { key, form: '', standard: '', meaning: '', example: `${key}: ${value}` }
			write(configurationWith(section, row))
			await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		}
		for (const value of ends) await load(value)
		for (const value of beyond) await expect(load(value), value).rejects.toThrow(`\`${key}\``)
	})

	test('names no key that there is not', () => {
		expect([...tables().keys()].sort()).toEqual(Object.keys(sections).sort())
	})

	test('its receivers load, one of each format', async () => {
		const receivers = /```yaml\n(receivers:\n[\s\S]*?)```/.exec(page)?.[1] ?? ''
		write({
			'tracewatch.yaml': `networks: [{name: base, chain_id: 1, rpc: ["http://h"]}]\n${receivers}`,
			'watchlists/a.yaml': `network: base\nreceivers: [slack]\nwatches: [{address: ${file.trim()}}]\n`,
		})
		const config = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		const formats = ['standard', 'slack', 'discord', 'telegram', 'ntfy', 'pagerduty', 'alertmanager']
		expect(config.receivers.map((receiver) => receiver.type === 'webhook' && receiver.format)).toEqual(formats)
	})

	test('its file of addresses loads', async () => {
		write({
			'tracewatch.yaml':
				'networks: [{name: base, chain_id: 1, rpc: ["http://h"]}]\n' +
				'receivers: [{name: hook, type: webhook, url: "http://h"}]\n',
			'watchlists/a.yaml': 'network: base\nreceivers: [hook]\naddresses_from: a.csv\n',
			'watchlists/a.csv': /```csv\n([\s\S]*?)```/.exec(page)?.[1] ?? '',
		})
		const { watches } = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		expect([...watches].map(({ label, tags }) => [label, tags])).toEqual([
			['Hot wallet, main', ['hot', 'exchange']],
			[null, []],
		])
	})
})

describe('examples', () => {
	test('load as they stand; once the secrets are for their owner alone, without a warning', async () => {
		const inTree = await loadConfig('examples/starter/tracewatch.yaml', { env: {}, cwd: root })
		expect(inTree.watches).toHaveLength(10)
		cpSync(join(root, 'examples/starter'), folder, { recursive: true })
		const secrets = join(folder, 'secrets')
		for (const name of readdirSync(secrets)) chmodSync(join(secrets, name), 0o600)
		const { watches, warnings } = await loadConfig('tracewatch.yaml', { env: {}, cwd: folder })
		expect(warnings).toEqual([])
		const ofLabel = new Map([...watches].map((watch) => [watch.label, watch]))
		expect(ofLabel.get('Cold wallet')).toMatchObject({
			tags: ['treasury', 'cold'],
			receivers: ['ops-mail', 'ops-hook'],
		})
		expect(ofLabel.get('Payroll')).toMatchObject({
			address: '0x595ef460a30733a69856a62e37529003de4b213e',
			kinds: ['transfer'],
			direction: 'out',
			minValueWei: 250_000_000_000_000_000n,
		})
		expect(ofLabel.get('Gas tank')).toMatchObject({ minValueWei: 250_000_000_000n, receivers: ['ops-hook'] })
		expect(ofLabel.get('Vault')).toMatchObject({ minValueWei: 1n })
		expect(ofLabel.get('Deployer')).toMatchObject({ kinds: ['deployment'], fromBlock: 19_000_000n })
		const wallet = ofLabel.get('Hot wallet 2, since May')
		expect(wallet).toMatchObject({ tags: ['exchange', 'hot', 'new'], direction: 'in', minValueWei: 100n * 10n ** 18n })
		expect(ofLabel.get('Bridge')).toMatchObject({ direction: 'both', tags: ['exchange'], network: 'base' })
	})

	test('their first lines name schemas that are there', () => {
		const files = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
		for (const file of files.filter((name) => name.endsWith('.yaml'))) {
			const path = join(root, 'examples', file)
			const [, named = ''] = /^# yaml-language-server: \$schema=(.+)\n/.exec(readFileSync(path, 'utf8')) ?? []
			const schema = JSON.parse(readFileSync(resolve(dirname(path), named), 'utf8'))
			expect(schema.$schema, file).toMatch(/draft-07/)
		}
	})

	test('have a file for each secret that they name, and no other', () => {
		const text = readFileSync(join(root, 'examples/starter/tracewatch.yaml'), 'utf8')
		const named = new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name))
		expect(new Set(readdirSync(join(root, 'examples/starter/secrets')))).toEqual(named)
	})

	test('are published, and stand apart from the sample watchlist', () => {
		const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
			readonly files: readonly string[]
		}
		expect(files).toEqual(expect.arrayContaining(['examples', 'watchlists', 'schema', 'docs']))
		expect(readdirSync(join(root, 'watchlists'))).toEqual(['local.yaml'])
	})
})
