// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language

import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.js'
import { ConfigError } from '../../../src/errors.js'

// Settings that are wrong, one file each, and every problem that gets them: line:column: message, with the file
// before it where it is another one.
const cwd = resolve(import.meta.dirname, '../../fixtures/config')
const env = { EMPTY: '', RPC_URL: 'https://rpc.example.org', FROM_FILE_FILE: '/no/such/file' }

const cases: Readonly<Record<string, readonly string[]>> = {
	'a-list-at-the-top': ['1:1: this must be keys with values, not a list'],
	'alias-bomb': ['1:1: the aliases (*name) of this file unfold into too much'],
	'at-sign': ['2:11: a text that begins with @ is quoted'],
	'bad-indent': ['3:1: the indentation of this line does not fit the lines before it'],
	'chain-ids': [
		'2:26: `chain_id` must be in decimal digits: write 1',
		'3:26: `chain_id` must be a whole number such as 12, not `-1`',
		'4:26: `chain_id` must be a whole number such as 12, not `1.5`',
		'5:26: `chain_id` must be a whole number such as 12, not `mainnet`',
		'6:26: `chain_id` must be at least 1',
		'7:26: `chain_id` must be a whole number such as 12, not `1e3`',
		'8:26: `chain_id` must be a whole number such as 12, not `0017`',
		'9:26: `chain_id` must be at most 9007199254740991, not `99999999999999999999`',
		'good/watchlists/good.yaml:1:10: no network `ethereum` is in the settings, which have n0, n1, n2, n3, n4, ' +
			'n5, n6, n7',
	],
	'colon-in-text': [
		'2:11: this text contains a colon and a space: quote it, or correct the indentation of this line or the next',
	],
	'duplicate-key': ['4:5: `chain_id` is written twice here'],
	'empty-file': ['1:1: the file is empty'],
	'empty-lists': ['4:10: `rpc` is empty; name at least one', '10:9: `to` is empty; name at least one'],
	'endpoint-twice': ['4:46: an entry of `rpc` is listed twice'],
	'http-port': ['11:7: `http` must have a port of at most 65535, not `99999`'],
	http: ['11:7: `http` must be host:port, such as 127.0.0.1:9464, not `9464`'],
	'keys-without-values': [
		'4:9: `rpc` has no value; write one, or drop the line',
		'8:10: `smtp` has no value; write one, or drop the line',
	],
	'mail-receiver': [
		'8:11: `smtp` must begin with smtp:// or smtps://; https:// is not supported here',
		'9:11: `from` must be a mail address such as ops@example.org, not `Tracewatch tracewatch@example.org`',
		'10:10: an entry of `to` must be a mail address such as ops@example.org, not `ops`',
		'10:15: an entry of `to` must be a mail address such as ops@example.org, not `a@b, c@d`',
	],
	'mail-server-password': ['8:11: `smtp` has a user or password with a stray %: write % as %25'],
	'missing-keys': [
		'2:5: `chain_id` is missing',
		'2:5: `rpc` is missing',
		'4:5: `name` is missing',
		'4:5: `smtp` is missing',
		'4:5: `from` is missing',
		'4:5: `to` is missing',
		'1:1: the folder of the watchlists, bad/settings/watchlists, cannot be read: it does not exist',
	],
	'multi-line-name': [
		'2:11: `name` must be one word of letters, digits, dots, dashes and underscores, not `ether\\n\\u202eeum`',
	],
	'names-twice': [
		'5:11: the name `ethereum` is taken by the network in line 2',
		'10:11: the name `ops-mail` is taken by the receiver in line 9',
	],
	names: [
		'2:11: `name` must be one word of letters, digits, dots, dashes and underscores, not `main net`',
		'6:11: `name` must be one word of letters, digits, dots, dashes and underscores, not `ops\\nmail`',
	],
	'network-options': [
		'4:20: `confirmations` must be a number of blocks, safe or finalized, not `latest`',
		'5:13: `settle` must be a number of blocks, or finalized, not `safe`',
		'6:15: `decimals` must be at most 77, not `100`',
		'7:13: `source` must be auto, trace_filter, trace_block or debug_traceBlockByNumber, not `trace_filters`; ' +
			'did you mean `trace_filter`?',
		'8:15: `explorer` must be a URL that begins with http:// or https://, such as https://host/path',
		'9:13: `symbol` is empty',
	],
	'no-networks': [
		'1:11: `networks` is empty; name at least one',
		'2:12: `receivers` is empty; name at least one',
		'1:1: the folder of the watchlists, bad/settings/watchlists, cannot be read: it does not exist',
	],
	'only-comments': ['1:1: the file is empty'],
	'problems-in-both': [
		'3:15: `chain_id` must be a whole number such as 12, not `x`',
		'bad/watchlists/min-values.yaml:4:70: `min_value`: `-1` is not an amount; it cannot be negative',
		'bad/watchlists/min-values.yaml:5:70: `min_value`: `0,5` is not an amount; write a point: 0.5',
		'bad/watchlists/min-values.yaml:6:70: `min_value`: `1e18` is not an amount; write all its digits, ' +
			'without an exponent',
		'bad/watchlists/min-values.yaml:8:70: `min_value`: `0.0000000000000000001` is finer than one wei: ' +
			'this coin has 18 digits after the point',
		'bad/watchlists/min-values.yaml:9:70: `min_value`: `1.5 wei` is finer than one wei: ' +
			'wei has no digits after the point',
		'bad/watchlists/min-values.yaml:10:70: `min_value`: `lots` is not an amount; write whole coins such as 0.5, ' +
			'or a unit: 250 gwei, 1 wei',
		'bad/watchlists/min-values.yaml:11:70: `min_value` must be one text or number, not a list',
		'bad/watchlists/min-values.yaml:12:70: `min_value`: `0x10` is not an amount; write it in decimal digits',
		'bad/watchlists/min-values.yaml:13:70: `min_value`: `1_000` is not an amount; write whole coins such as 0.5, ' +
			'or a unit: 250 gwei, 1 wei',
	],
	'receiver-types': [
		'7:11: `type` must be email or webhook, not `webhok`; did you mean `webhook`?',
		'9:5: `type` is missing: email or webhook',
		'1:1: the folder of the watchlists, bad/settings/watchlists, cannot be read: it does not exist',
	],
	'rpc-urls': [
		'2:35: an entry of `rpc` must begin with http:// or https://; wss:// is not supported here',
		'3:35: an entry of `rpc` must be a URL that begins with http:// or https://, such as https://host/path',
		'4:35: an entry of `rpc` is not a right URL, such as https://host/path; ' +
			'in a user or password write @ as %40, / as %2F, # as %23, % as %25',
		'5:35: an entry of `rpc` is not a right URL, such as https://host/path; ' +
			'in a user or password write @ as %40, / as %2F, # as %23, % as %25',
		'6:35: an entry of `rpc` must begin with http:// or https://; file:// is not supported here',
		'7:35: an entry of `rpc` has a blank or a line break in it: take it out, or write a blank as %20',
		'good/watchlists/good.yaml:1:10: no network `ethereum` is in the settings, which have n0, n1, n2, n3, n4, n5',
	],
	'schedule-unquoted-short': ['4:15: a text that begins with * is quoted: "*/12 * * * * *"'],
	'schedule-unquoted': ['4:20: a text that begins with * is quoted: "*/12 * * * * *"'],
	schedules: [
		'2:64: `schedule` has a step of 90 seconds, but seconds go up to 59 only, so it would not run every 90 seconds',
		'3:64: `schedule` has a step of 75 minutes, but minutes go up to 59 only, so it would not run every 75 minutes',
		'4:64: `schedule` has a step of 61 minutes, but minutes go up to 59 only, so it would not run every 61 minutes',
		'5:64: `schedule` has a step of 24 hours, but hours go up to 23 only, so it would not run every 24 hours',
		'6:64: `schedule` must have six fields, seconds first, such as "*/12 * * * * *", not `every minute`',
		'7:64: `schedule` must have six fields, seconds first, such as "*/12 * * * * *", not `* * * *`',
		'8:64: `schedule` is not a schedule: `61 * * * * *`; six fields, seconds first, such as "*/12 * * * * *"',
		'9:64: `schedule` must have six fields, seconds first, such as "*/12 * * * * *", not `@hourly`',
		'10:64: `schedule` is not a schedule: `0 0 0 31 13 *`; six fields, seconds first, such as "*/12 * * * * *"',
		'good/watchlists/good.yaml:1:10: no network `ethereum` is in the settings, which have n0, n1, n2, n3, n4, ' +
			'n5, n6, n7, n8',
	],
	'stall-heartbeat': [
		'4:18: `stall_after` must be a time such as 90s, 10m, 2h or 1d',
		'13:16: `heartbeat_url` must be a URL that begins with http:// or https://, such as https://host/path',
	],
	'tab-as-indent': ['3:1: indent with spaces, not tabs'],
	'two-documents': ['5:1: a second document begins here; one file holds one: drop the line `---`'],
	'unclosed-list': ['11:1: a [ or { before this is not closed'],
	'unclosed-quote': ['2:11: this quote is never closed'],
	'unknown-alias': [
		'2:11: this repeats a part that nothing before it marks with &; a text that begins with * is quoted',
	],
	'unknown-key': ['1:1: `receivers` is missing', '5:1: unknown key `recievers`; did you mean `receivers`?'],
	'unknown-keys-everywhere': [
		'4:5: unknown key `chainid`; did you mean `chain_id`?',
		'5:5: unknown key `confirmation`; did you mean `confirmations`?',
		'12:5: unknown key `subject`',
		'14:1: unknown key `zzz`',
	],
	'unknown-tag': ['2:11: tags are not understood here: drop `!secret`'],
	'variable-file-missing': ['8:11: the file that FROM_FILE_FILE names cannot be read: it does not exist'],
	'variables-in-brackets': ['4:12: inside brackets a variable is quoted: ["${NAME}"]'],
	'variables-missing': [
		'3:15: the environment variable EMPTY is set, but empty',
		`4:11: \${NOT_SET} is not set: write it to ${cwd}/bad/settings/secrets/NOT_SET (mode 0600), ` +
			'or set the environment variable NOT_SET, or NOT_SET_FILE to the path of a file that holds it',
		`9:11: \${NOT_SET_EITHER} is not set: write it to ${cwd}/bad/settings/secrets/NOT_SET_EITHER (mode 0600), ` +
			'or set the environment variable NOT_SET_EITHER, or NOT_SET_EITHER_FILE to the path of a file that holds it',
	],
	'variables-misspelt': [
		'2:11: ${lower…} is not understood; a name has letters, digits and underscores only, and no default; ' +
			'$${ writes a plain ${',
		'3:15: ${CHAIN…} is not understood; a name has letters, digits and underscores only, and no default; ' +
			'$${ writes a plain ${',
		'4:11: ${KEY…} is not understood; a name has letters, digits and underscores only, and no default; ' +
			'$${ writes a plain ${',
		'9:11: a ${ is not closed; write ${NAME}, or $${ for a plain ${',
		'10:10: a ${ is not closed; write ${NAME}, or $${ for a plain ${',
	],
	'watchlists-empty-list': ['11:13: `watchlists` is empty; name at least one'],
	'watchlists-file-missing': ['bad/settings/no-such.yaml:1:1: the file cannot be read: it does not exist'],
	'watchlists-folder-empty': [
		'11:13: the folder of the watchlists, bad/settings/.hidden, cannot be read: it does not exist',
	],
	'watchlists-folder-is-a-file': [
		'11:13: the folder of the watchlists, good/watchlists/good.yaml, cannot be read: it is not a folder; ' +
			'a single watchlist is written as a list: [file.yaml]',
	],
	'watchlists-folder-missing': [
		'11:13: the folder of the watchlists, bad/settings/no-such-folder, cannot be read: it does not exist',
	],
	'watchlists-form': ['11:13: `watchlists` must be a folder, or a list of files'],
	'watchlists-twice': ['11:47: an entry of `watchlists` is listed twice'],
	'webhook-receiver': [
		'8:10: `url` must begin with http:// or https://; ftp:// is not supported here',
		'9:13: `secret` must be `whsec_` and 24 to 64 bytes in base64; make one with: ' +
			'echo "whsec_$(openssl rand -base64 32)"',
		'13:13: `secret` must be `whsec_` and 24 to 64 bytes in base64; make one with: ' +
			'echo "whsec_$(openssl rand -base64 32)"',
		'1:1: the folder of the watchlists, bad/settings/watchlists, cannot be read: it does not exist',
	],
	'wrong-forms': [
		'2:11: `name` must be one text or number, not keys with values',
		'4:10: `rpc` must be a list, such as [a, b], not one text',
		'9:11: `from` must be one text or number, not a list',
	],
}

describe('error: wrong settings', () => {
	test('every file has its case', () => {
		const names = readdirSync(resolve(cwd, 'bad/settings')).map((name) => name.replace('.yaml', ''))
		expect(Object.keys(cases).sort()).toEqual(names.sort())
	})

	test.each(Object.entries(cases))('%s', async (name, expected) => {
		const file = `bad/settings/${name}.yaml`
		const error = await loadConfig(file, { env, cwd }).catch((thrown: unknown) => thrown)
		if (!(error instanceof ConfigError)) throw error
		const own = `${file}:`
		const told = error.message.split('\n').map((line) => (line.startsWith(own) ? line.slice(own.length) : line))
		expect(told).toEqual(expected)
		expect(error.message).not.toContain('SECRET')
	})
})
