import { wordlist as english } from '@scure/bip39/wordlists/english.js'
import { wordlist as french } from '@scure/bip39/wordlists/french.js'
import { wordlist as italian } from '@scure/bip39/wordlists/italian.js'
import { wordlist as spanish } from '@scure/bip39/wordlists/spanish.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { urlSecrets } from '../../../src/base/secrets/urlSecrets.js'
import { createChance } from '../../support/chance.js'

/** Of no account: made up in the form that each service documents. */
const keys = {
	slack: 'https://hooks.slack.example/services/T024BE7LD/B01H8PQ7N2V/9uVvRzQm2ZrK4sWbnGd7xYTa',
	discord:
		'https://discord.example/api/webhooks/1173925480164982784/' +
		'x3Jq-7wQkzV0oGqf_RsT2uBnCMd8LyEHpaI6vW1K9XtNjZr5FbU4hYgSe-oDmQcPAiLw',
	telegram: 'https://api.telegram.example/bot5812345678:AAHd9sKq2Lw7XvR_bY1nT-ZpE4mUoGcJf8Q/sendMessage',
	teams:
		'https://tenant.webhook.example/webhookb2/2c1b5d8e-7a43-4f0e-9d16-8b3f5a7c9e21@' +
		'd4f8a2b6-13c7-4e59-8a0d-6f2b9c7e1345/IncomingWebhook/5e7a9c3b1d8f4260a4c6e8b0d2f47193/' +
		'9b3d7f15-2a6c-4e80-b4d8-f1a3c5e79024',
	alchemy: 'https://eth-mainnet.node.example/v2/xY7_kQ2mVbR9-sLtZ4wNpHdJ0cGfEa3U',
	infura: 'https://mainnet.node.example/v3/9aa3d95b3bc440fa88ea12eaa4456161',
	quicknode: 'https://wispy-snowy-leaf.node.example/7f3c9a1e5b2d8046f1a3c5e7092b4d6f8a0c1e3b/',
	ankr: 'https://rpc.node.example/eth/3f1b7d9c5a2e8046f1a3c5e7092b4d6f8a0c1e3b7f3c9a1e5b2d8046f1a3c5e7',
	drpc: 'https://lb.node.example/ogrpc?network=ethereum&dkey=AhRk7Vt2Lm9QpXs4Wz1Yb6Nc8Df0Gj-HuA_',
	healthchecks: 'https://beat.example/ping/0b5e4f1c-8d3a-4c72-9e6f-a1b2c3d4e5f6',
} as const
const secretPartsOf: Readonly<Record<keyof typeof keys, readonly string[]>> = {
	slack: ['9uVvRzQm2ZrK4sWbnGd7xYTa'],
	discord: ['1173925480164982784', keys.discord.slice(-68)],
	telegram: ['5812345678:AAHd9sKq2Lw7XvR_bY1nT-ZpE4mUoGcJf8Q'],
	teams: ['5e7a9c3b1d8f4260a4c6e8b0d2f47193', '9b3d7f15-2a6c-4e80-b4d8-f1a3c5e79024'],
	alchemy: ['xY7_kQ2mVbR9-sLtZ4wNpHdJ0cGfEa3U'],
	infura: ['9aa3d95b3bc440fa88ea12eaa4456161'],
	quicknode: ['7f3c9a1e5b2d8046f1a3c5e7092b4d6f8a0c1e3b'],
	ankr: ['3f1b7d9c5a2e8046f1a3c5e7092b4d6f8a0c1e3b7f3c9a1e5b2d8046f1a3c5e7'],
	drpc: ['AhRk7Vt2Lm9QpXs4Wz1Yb6Nc8Df0Gj-HuA_'],
	healthchecks: ['0b5e4f1c-8d3a-4c72-9e6f-a1b2c3d4e5f6'],
}

const words = [...english, ...french, ...italian, ...spanish].map((word) => word.normalize('NFC'))
const word = fc.constantFrom(...words)
const alphabets = {
	hex: '0123456789abcdef',
	base36: '0123456789abcdefghijklmnopqrstuvwxyz',
	base58: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
	base62: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
	base64url: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_',
}
const cut = (url: string) => urlSecrets(new URL(url))

describe('the secrets in a URL', () => {
	test.each([
		['a key in the path', 'https://node.example.org/K3Y-0123456789ab/evm', ['K3Y-0123456789ab']],
		['a key in the query', 'wss://node.example.org/ws?apikey=Q99', ['Q99']],
		['a key alone in the query', 'https://node.example.org/?K3Y0123', ['K3Y0123']],
		['a word in the query', 'https://node.example.org/?token=letmein', ['letmein']],
		['a fragment', 'https://node.example.org/#letmein', ['letmein']],
		['a login', 'https://us%40er:p%24ss@node.example.org/', ['us@er:p$ss', 'p%24ss', 'p$ss']],
		['a token for a user', 'https://tok-123456@node.example.org/', ['tok-123456']],
		['the token of a bot', 'https://api.example.org/bot12:AbC/sendMessage', ['bot12:AbC', '12:AbC']],
		['the password of a mailbox', 'smtps://ops%40example.org:hunter2@mail.example.org', ['hunter2']],
		['the password of a database', 'postgres:///db?host=/run/pg&password=s3cret', ['s3cret']],
	])('default: %s', (_, url, expected) => {
		expect(cut(url)).toEqual(expect.arrayContaining(expected))
	})

	test.each(Object.keys(keys) as (keyof typeof keys)[])('default: the key of %s', (service) => {
		expect(cut(keys[service])).toEqual(expect.arrayContaining([...secretPartsOf[service]]))
	})

	test.each([
		'https://node.example.org',
		'https://node.example.org:8545/',
		'https://node.example.org/eth-mainnet',
		'https://node.example.org/ext/bc/C/rpc',
		'wss://node.example.org/v3/ws',
		'https://hooks.example.org/services/',
		'https://hooks.example.org/treasury',
		'https://hooks.example.org/alerts',
		'https://hooks.example.org/treasury-wallet/cold_storage.2/erc20',
		'https://hooks.example.org/IncomingWebhook/sendMessage/2024-11-23',
		'https://hooks.example.org/zkSync/opBNB/web3auth/k8s-prod-eu1',
		'https://hooks.example.org/caf%C3%A9/Z%C3%BCrich/bx8k2p1',
		'https://node.example.org/rpc?network=mainnet&chainId=8453',
		'https://hooks.example.org/api?wait=true',
		'smtp://mail.example.org:587',
		'postgres://db.example.org/tracewatch',
	])('default: nothing in %s', (url) => {
		expect(cut(url)).toEqual([])
	})

	test('behavior: a word, and words joined by hyphens, are never a key', () => {
		expect(words.filter((each) => cut(`https://h/${each}`).length > 0)).toEqual([])
		const joined = fc.tuple(fc.array(word, { minLength: 1, maxLength: 5 }), fc.constantFrom('-', '_', '.', '%20'))
		fc.assert(
			fc.property(joined, ([parts, separator]) => {
				expect(cut(`https://h/${parts.join(separator)}`)).toEqual([])
			}),
			{ numRuns: 400 },
		)
	})

	test.each(Object.entries(alphabets))('behavior: random keys of %s with a digit are cut', (_, alphabet) => {
		const chance = createChance(11)
		for (let n = 0; n < 300; n += 1) {
			const key = Array.from({ length: 16 + chance.number(48) }, () => alphabet[chance.number(alphabet.length)]).join(
				'',
			)
			if (/\d/.test(key)) expect(cut(`https://h/v3/${key}`)).toContain(key)
		}
	})

	test('behavior: the user of a mailbox is its address, and stays readable', () => {
		expect(cut('smtps://ops%40example.org:hunter2@mail.example.org')).not.toContain('ops@example.org')
	})

	test('behavior: a user beside a password stays readable where it is a word', () => {
		expect(cut('smtps://tracewatch:hunter2@mail.example.org')).toEqual(['tracewatch:hunter2', 'hunter2'])
	})

	test('behavior: a URL that is a secret as a whole takes shorter keys, and no words', () => {
		expect(urlSecrets(new URL('https://hooks.zap.example/hooks/catch/bx8k2p1'), 6)).toEqual(['bx8k2p1'])
	})

	test('behavior: longest first, so that a part is never taken out of a whole', () => {
		const lengths = cut('https://user:pass@h/abc/a8f3k2p9q1a8f3k2p9q1?x=abc').map((text) => text.length)
		expect(lengths).toEqual(lengths.toSorted((a, b) => b - a))
	})
})
