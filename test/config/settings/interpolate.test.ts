// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { interpolate } from '../../../src/config/settings/interpolate.js'
import { codePoint } from '../../support/codePoint.js'
import { temporaryFolder } from '../../support/folder.js'

let folder: string
beforeAll(() => {
	folder = temporaryFolder()
	for (const name of ['credentials', 'loaded', 'secrets']) mkdirSync(join(folder, name))
	writeFileSync(join(folder, 'credentials/KEY'), 'from credential\n')
	writeFileSync(join(folder, 'credentials/tracewatch_KEY'), 'not this')
	writeFileSync(join(folder, 'loaded/tracewatch_KEY'), 'from folder of credentials\n')
	writeFileSync(join(folder, 'secrets/KEY'), 'from secrets\n')
	writeFileSync(join(folder, 'key'), 'from file\n')
	writeFileSync(join(folder, 'windows'), 'from file\r\n')
	writeFileSync(join(folder, 'two lines'), 'one\ntwo\n\n')
})

const fill = (text: string, env: NodeJS.ProcessEnv) => {
	const { value, problems } = interpolate({ list: [{ key: text }] }, env, folder)
	expect(problems).toEqual([])
	return (value as { list: { key: string }[] }).list[0]?.key
}

describe('interpolate', () => {
	test('the environment comes first, then the file, the credential, that of a folder, the file in `secrets`', () => {
		const sources: readonly [string, NodeJS.ProcessEnv][] = [
			['from environment', { KEY: 'from environment' }],
			['from file', { KEY_FILE: join(folder, 'key') }],
			['from credential', { CREDENTIALS_DIRECTORY: join(folder, 'credentials') }],
			['from folder of credentials', { CREDENTIALS_DIRECTORY: join(folder, 'loaded') }],
			['from secrets', {}],
		]
		for (const [at, [value]] of sources.entries()) {
			const later = sources.slice(at).map(([, env]) => env)
			expect(fill('${KEY}', Object.assign({}, ...later.reverse()))).toBe(value)
		}
	})

	test('a file that every user can read is warned of; one for its owner and group, or of systemd, is not', () => {
		const open = join(folder, 'open')
		writeFileSync(open, 'Canary')
		chmodSync(open, 0o644)
		const warn = (env: NodeJS.ProcessEnv) => interpolate({ a: ['${KEY}'] }, env, folder).warnings
		const what = `the file that KEY_FILE names (${open})`
		const message = `${what} can be read by every user of this machine: \`chmod 600 ${open}\``
		expect(warn({ KEY_FILE: open })).toEqual([{ path: ['a', 0], message }])
		chmodSync(join(folder, 'credentials/KEY'), 0o644)
		expect(warn({ CREDENTIALS_DIRECTORY: join(folder, 'credentials') })).toEqual([])
		chmodSync(open, 0o640)
		expect(warn({ KEY_FILE: open })).toEqual([])
	})

	test.each([
		['key', 'from file'],
		['windows', 'from file'],
		['two lines', 'one\ntwo\n'],
	])('a secret read from a file loses one newline at its end: %s', (name, content) => {
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
			fc.property(fc.string({ minLength: 1, unit: codePoint }), (value) => {
				expect(fill('${KEY}', { KEY: value })).toBe(value)
				expect(fill('<${KEY}${KEY}>', { KEY: value })).toBe(`<${value}${value}>`)
			}),
		)
		expect(fill('${KEY}', { KEY: '${KEY} $& $1 [a, b] &x *x' })).toBe('${KEY} $& $1 [a, b] &x *x')
	})

	test('the values that were filled in are returned, in part and whole', () => {
		const { filled } = interpolate({ a: 'x${KEY}', b: ['${KEY}'] }, { KEY: 'secret' }, folder)
		expect(filled).toEqual([
			{ path: ['a'], template: 'x${KEY}', values: ['secret', 'xsecret'] },
			{ path: ['b', 0], template: '${KEY}', values: ['secret'] },
		])
	})

	test.each<[string, NodeJS.ProcessEnv, RegExp]>([
		['${KEY}', {}, /^\$\{KEY\} is not set: write it to \/no\/such\/secrets\/KEY \(mode 0600\), or .*KEY_FILE/],
		[
			'${KEY}',
			{ CREDENTIALS_DIRECTORY: '/no/such/folder', INVOCATION_ID: 'a unit' },
			/write it to \/no\/such\/secrets\/KEY \(mode 0600\), and restart the service$/,
		],
		['${KEY}', { KEY: '' }, /KEY is set, but empty/],
		['${KEY}', { KEY_FILE: '/no/such/file' }, /KEY_FILE names .* it does not exist/],
		['${KEY}', { CREDENTIALS_DIRECTORY: '/no/such/folder' }, /is not set/],
		['${key-1}', { 'key-1': 'x' }, /is not understood/],
		['${}', {}, /is not understood/],
		['${KEY', { KEY: 'x' }, /is not closed/],
	])('error: %s with %j', (text, env, message) => {
		const { problems, value } = interpolate({ here: text }, env, '/no/such')
		expect(problems).toEqual([{ path: ['here'], message: expect.stringMatching(message) }])
		expect(value).toEqual({ here: text })
	})

	test('error: a secret in the variable for the path of its file is not printed', () => {
		const { problems } = interpolate(['${KEY}'], { KEY_FILE: 'https://h/Zx9qSup3rS3cr3tKeyAbC77' }, '/no/such')
		const message = 'the file that KEY_FILE names cannot be read: it does not exist'
		expect(problems).toEqual([{ path: [0], message }])
	})

	test.each(['', '\n', ' \n\n'])('error: a file of %j is empty', (content) => {
		writeFileSync(join(folder, 'secrets/EMPTY'), content)
		for (const env of [{}, { EMPTY_FILE: join(folder, 'secrets/EMPTY') }]) {
			const { problems, filled } = interpolate(['${EMPTY}'], env, folder)
			expect([problems.map(({ message }) => message), filled]).toEqual([[expect.stringMatching(/ is empty$/)], []])
		}
	})
})
