import { describe, expect, test } from 'vitest'
import { urlSecrets } from '../../src/base/urlSecrets.js'

describe('what is secret in a URL', () => {
	test.each([
		['a key in the path', 'https://node.example.org/K3Y-0123456789/evm', ['K3Y-0123456789']],
		['a key that is a word', 'https://node.example.org/letmein/evm', ['letmein']],
		['a key in the query', 'wss://node.example.org/ws?apikey=Q99', ['Q99']],
		['a key alone in the query', 'https://node.example.org/?K3Y0123', ['K3Y0123']],
		['a login', 'https://us%40er:p%24ss@node.example.org/', ['us@er:p$ss', 'p%24ss', 'p$ss']],
		['a token for a user', 'https://tok-123456@node.example.org/', ['tok-123456']],
		['the token of a bot', 'https://api.example.org/bot12:AbC/sendMessage', ['bot12:AbC', '12:AbC']],
		['the password of a mailbox', 'smtps://ops%40example.org:hunter2@mail.example.org', ['hunter2']],
		['the password of a database', 'postgres:///db?host=/run/pg&password=s3cret', ['s3cret']],
	])('default: %s', (_, url, expected) => {
		const found = urlSecrets(new URL(url))
		expect(found).toEqual(expect.arrayContaining(expected))
	})

	test.each([
		'https://node.example.org',
		'https://node.example.org:8545/',
		'https://node.example.org/eth-mainnet',
		'https://node.example.org/ext/bc/C/rpc',
		'wss://node.example.org/v3/ws',
		'https://hooks.example.org/services/',
		'smtp://mail.example.org:587',
		'postgres://db.example.org/tracewatch',
	])('default: nothing in %s', (url) => {
		expect(urlSecrets(new URL(url))).toEqual([])
	})

	test('behavior: the user of a mailbox is its address, and stays readable', () => {
		expect(urlSecrets(new URL('smtps://ops%40example.org:hunter2@mail.example.org'))).not.toContain('ops@example.org')
	})

	test('behavior: longest first, so that a part is never taken out of a whole', () => {
		const lengths = urlSecrets(new URL('https://user:pass@h/abc/abcdef?x=abc')).map((text) => text.length)
		expect(lengths).toEqual(lengths.toSorted((a, b) => b - a))
	})
})
