import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { watchFiles } from '../../../src/config/watchlists/watchFiles.js'
import { ConfigError } from '../../../src/errors.js'
import { temporaryFolder } from '../../support/folder.js'

let folder: string
const at = (name: string) => join(folder, name)
const settings = `networks:
  - {name: base, chain_id: 8453, rpc: ["http://127.0.0.1:8545"]}
receivers:
  - {name: hook, type: webhook, url: "http://127.0.0.1:9000"}
watchlists: [list.yaml]
`
const list = 'network: base\nreceivers: [hook]\naddresses_from: many.csv\n'
const address = `0x${'1'.repeat(40)}`

beforeEach(() => {
	folder = temporaryFolder()
	writeFileSync(at('tracewatch.yaml'), settings)
	writeFileSync(at('list.yaml'), list)
	writeFileSync(at('many.csv'), address)
})

async function problems(env: NodeJS.ProcessEnv = {}): Promise<string> {
	const error = await loadConfig('tracewatch.yaml', { env, cwd: folder }).catch((thrown: unknown) => thrown)
	if (!(error instanceof ConfigError)) throw error
	return error.message
}

/** What may stand where a file is expected, and what is said of it. */
const kinds: Readonly<Record<string, readonly [make: (path: string) => void, words: string]>> = {
	'a pipe': [(path) => execFileSync('mkfifo', [path]), 'it is a pipe; name an ordinary file'],
	'a link to a pipe': [
		(path) => {
			execFileSync('mkfifo', [`${path}.pipe`])
			symlinkSync(`${path}.pipe`, path)
		},
		'it is a pipe; name an ordinary file',
	],
	'a device without an end': [(path) => symlinkSync('/dev/zero', path), 'it is a device or a socket'],
	'a terminal': [(path) => symlinkSync('/dev/ptmx', path), 'it is a device or a socket'],
	'a folder': [(path) => mkdirSync(path), 'it is a folder'],
	'a link to itself': [(path) => symlinkSync(path, path), 'it is a link that may not be followed, or leads to itself'],
	'500 MB': [
		(path) => {
			writeFileSync(path, '')
			truncateSync(path, 500_000_000)
		},
		'it is larger than',
	],
}

test('error: a watchlist of more than 4 MiB: many addresses belong in a CSV file', async () => {
	writeFileSync(at('list.yaml'), '')
	truncateSync(at('list.yaml'), 4 * 2 ** 20 + 1)
	expect(await problems()).toMatch(/^list.yaml:1:1: .*larger than 4 MiB.*CSV file, which `addresses_from`/m)
})

describe('error: no ordinary file', () => {
	for (const [kind, [make, words]] of Object.entries(kinds)) {
		test.each([
			['the settings', 'tracewatch.yaml'],
			['a watchlist', 'list.yaml'],
			['a file of addresses', 'many.csv'],
		])(`${kind} in place of %s`, async (_, name) => {
			rmSync(at(name))
			make(at(name))
			expect(await problems()).toMatch(new RegExp(`^${name}:1:1: the file cannot be read: ${words}`, 'm'))
		})

		test(`${kind} in place of a secret`, async () => {
			writeFileSync(at('tracewatch.yaml'), settings.replace('"http://127.0.0.1:8545"', `"\${RPC}"`))
			make(at('secret'))
			const said = `the file that RPC_FILE names cannot be read: ${words}`
			expect(await problems({ RPC_FILE: at('secret') })).toContain(said)
		})
	}

	test('a socket in place of a file of addresses', async () => {
		const server = createServer()
		rmSync(at('many.csv'))
		await new Promise<void>((resolve) => server.listen(at('many.csv'), resolve))
		try {
			expect(await problems()).toContain('it is a device or a socket; name an ordinary file')
		} finally {
			await new Promise((resolve) => server.close(resolve))
		}
	})

	test('a file that says nothing of its size is read up to the bound only', async () => {
		rmSync(at('list.yaml'))
		symlinkSync('/proc/self/mem', at('list.yaml'))
		expect(await problems()).toContain('list.yaml:1:1: the file cannot be read: ')
	})

	test('watching files goes on at a pipe, sees it become a file, and ends with the signal', async () => {
		rmSync(at('many.csv'))
		execFileSync('mkfifo', [at('many.csv')])
		const stop = new AbortController()
		const seen = { changed: () => {} }
		const change = () => new Promise<void>((resolve) => Object.assign(seen, { changed: resolve }))
		const first = change()
		const watching = watchFiles({
			paths: () => [at('list.yaml'), at('many.csv')],
			onChange: () => seen.changed(),
			revision: () => 'of before',
			intervalMs: 20,
			settleMs: 20,
			signal: stop.signal,
		})
		await first
		const second = change()
		rmSync(at('many.csv'))
		writeFileSync(at('many.csv'), `${address}\n`)
		await second
		stop.abort()
		await watching
	})
})

describe('error: a file of something else', () => {
	const shadow = 'root:$y$j9T$Tq1bV0Xk8yQ$ZxRzJ4:19834:0:99999:7:::\ndaemon:*:19834:0:99999:7:::\n'
	const keys =
		`0x${'4c0883a6'.repeat(8)}\n${'9f86d081'.repeat(8)}\n` +
		'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPP\n'
	const pem = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n'
	const header = 'hunter2correcthorse,address,Battery staple!\n'

	test.each([
		['passwords', shadow],
		['private keys', keys],
		['a key', pem],
		['a header of other columns', header],
	])('of %s, nothing is shown: as a file of addresses, a watchlist, the settings', async (_, content) => {
		for (const name of ['many.csv', 'list.yaml', 'tracewatch.yaml']) {
			writeFileSync(at('tracewatch.yaml'), settings)
			writeFileSync(at('list.yaml'), list)
			writeFileSync(at(name), content)
			const said = await problems()
			for (const word of content.split(/[\s,:]+/).filter((one) => one.length > 10 && one !== 'hunter2correcthorse')) {
				for (let from = 0; from + 9 <= word.length; from++) expect(said).not.toContain(word.slice(from, from + 9))
			}
		}
	})

	test('a private key in place of an address is called one', async () => {
		writeFileSync(at('many.csv'), keys)
		expect((await problems()).split('\n').slice(0, 2)).toEqual([
			'many.csv:1:1: `address` must be an address: `0x4c0883…` has 64 hex digits, ' +
				'as a private key or a hash has, not 40',
			'many.csv:2:1: `address` must be an address: this does not begin with 0x, and an address is 0x and 40 hex digits',
		])
	})
})
