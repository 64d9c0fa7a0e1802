// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { interpolate } from '../../../src/config/settings/interpolate.js'
import { temporaryFolder } from '../../support/folder.js'

let folder: string
beforeAll(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'credentials'))
	writeFileSync(join(folder, 'credentials/KEY'), 'from credential\n')
	writeFileSync(join(folder, 'key'), 'from file\n')
	writeFileSync(join(folder, 'windows'), 'from file\r\n')
	writeFileSync(join(folder, 'two lines'), 'one\ntwo\n\n')
	writeFileSync(join(folder, 'empty'), '\n')
})

const fill = (text: string, env: NodeJS.ProcessEnv) => {
	const { value, problems } = interpolate({ list: [{ key: text }] }, env)
	expect(problems).toEqual([])
	return (value as { list: { key: string }[] }).list[0]?.key
}

describe('interpolate', () => {
	test('the environment comes first, then the file, then the credential', () => {
		const everything = {
			KEY: 'from environment',
			KEY_FILE: join(folder, 'key'),
			CREDENTIALS_DIRECTORY: join(folder, 'credentials'),
		}
		const { KEY: _, ...noVariable } = everything
		const { KEY_FILE: __, ...onlyCredential } = noVariable
		expect(fill('${KEY}', everything)).toBe('from environment')
		expect(fill('${KEY}', noVariable)).toBe('from file')
		expect(fill('${KEY}', onlyCredential)).toBe('from credential')
	})

	test('behavior: beside the service, what the unit would be handed is found in the credential store', () => {
		const store = join(folder, 'credstore')
		mkdirSync(store)
		writeFileSync(join(store, 'tracewatch.KEY'), 'from the store\n')
		const env = { TRACEWATCH_CREDSTORE: store }
		expect(fill('${KEY}', env)).toBe('from the store')
		expect(fill('${KEY}', { ...env, KEY: 'from environment' })).toBe('from environment')
		const [problem] = interpolate('${OTHER}', { ...env, INVOCATION_ID: 'a unit' }).problems
		expect(problem?.message).toContain('sudo tracewatch secret set OTHER')
		expect(problem?.message).toContain('LoadCredential=OTHER:tracewatch.OTHER')
	})

	test('behavior: of several watchers on a machine each has its own secrets, and never those of another', () => {
		const store = join(folder, 'instances')
		mkdirSync(store)
		writeFileSync(join(store, 'tracewatch.KEY'), 'of the first\n')
		writeFileSync(join(store, 'tracewatch.a.KEY'), 'of a\n')
		const env = { TRACEWATCH_CREDSTORE: store }
		const at = (path: string, more = {}) => interpolate('${KEY}', { ...env, ...more }, path)
		expect(at('/etc/tracewatch/tracewatch.yaml').value).toBe('of the first')
		expect(at('/etc/tracewatch/a/tracewatch.yaml').value).toBe('of a')
		const other = '/etc/tracewatch/b/tracewatch.yaml'
		expect(at(other).problems[0]?.message).toContain(`sudo tracewatch secret set KEY -c ${other}`)
		const { problems } = at(other, { INVOCATION_ID: 'a unit' })
		expect(problems[0]?.message).toContain('LoadCredential=KEY:tracewatch.%i.KEY')
	})

	test('behavior: what systemd has handed to a service that runs is found, wherever it took it from', () => {
		const TRACEWATCH_RUN_CREDENTIALS = join(folder, 'run')
		const env = { TRACEWATCH_RUN_CREDENTIALS, TRACEWATCH_CREDSTORE: join(folder, 'no store') }
		for (const unit of ['tracewatch.service', 'tracewatch@a.service']) {
			mkdirSync(join(TRACEWATCH_RUN_CREDENTIALS, unit), { recursive: true })
			writeFileSync(join(TRACEWATCH_RUN_CREDENTIALS, unit, 'KEY'), `of ${unit}`)
		}
		expect(interpolate('${KEY}', env, '/etc/tracewatch/tracewatch.yaml').value).toBe('of tracewatch.service')
		expect(interpolate('${KEY}', env, '/etc/tracewatch/a/tracewatch.yaml').value).toBe('of tracewatch@a.service')
	})

	test.each([
		['key', 'from file'],
		['windows', 'from file'],
		['two lines', 'one\ntwo\n'],
	])('one newline at the end of a file is cut: %s', (name, content) => {
		expect(fill('${KEY}', { KEY_FILE: join(folder, name) })).toBe(content)
	})

	test.each([
		['https://${HOST}/${KEY}', 'https://h/k'],
		['$${KEY}', '${KEY}'],
		['$$${KEY}', '$${KEY}'],
		['$KEY $ {KEY} $', '$KEY $ {KEY} $'],
		['}${KEY}{', '}k{'],
	])('%s is %s', (text, filled) => {
		expect(fill(text, { HOST: 'h', KEY: 'k' })).toBe(filled)
	})

	test('a value is data: whatever it holds, it is not read again', () => {
		fc.assert(
			fc.property(fc.string({ minLength: 1, unit: 'binary' }), (value) => {
				expect(fill('${KEY}', { KEY: value })).toBe(value)
				expect(fill('<${KEY}${KEY}>', { KEY: value })).toBe(`<${value}${value}>`)
			}),
		)
		expect(fill('${KEY}', { KEY: '${KEY} $& $1 [a, b] &x *x' })).toBe('${KEY} $& $1 [a, b] &x *x')
	})

	test('the values that were filled in are returned, in part and whole', () => {
		const { filled } = interpolate({ a: 'x${KEY}', b: ['${KEY}'] }, { KEY: 'secret' })
		expect(filled).toEqual([
			{ path: ['a'], template: 'x${KEY}', values: ['secret', 'xsecret'] },
			{ path: ['b', 0], template: '${KEY}', values: ['secret'] },
		])
	})

	test.each<[string, NodeJS.ProcessEnv, RegExp]>([
		['${KEY}', {}, /^\$\{KEY\} is not set: .*KEY_FILE/],
		['${KEY}', { KEY: '' }, /KEY is set, but empty/],
		['${KEY}', { KEY_FILE: '/no/such/file' }, /KEY_FILE names .* it does not exist/],
		['${KEY}', { CREDENTIALS_DIRECTORY: '/no/such/folder' }, /is not set/],
		['${key-1}', { 'key-1': 'x' }, /is not understood/],
		['${}', {}, /is not understood/],
		['${KEY', { KEY: 'x' }, /is not closed/],
	])('error: %s with %j', (text, env, message) => {
		const { problems, value } = interpolate({ here: text }, env)
		expect(problems).toEqual([{ path: ['here'], message: expect.stringMatching(message) }])
		expect(value).toEqual({ here: text })
	})

	test('error: a file that is empty', () => {
		const { problems } = interpolate(['${KEY}'], { KEY_FILE: join(folder, 'empty') })
		expect(problems[0]?.message).toMatch(/is empty/)
	})
})
