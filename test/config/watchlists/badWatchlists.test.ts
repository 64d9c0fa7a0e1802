import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Names } from '../../../src/config/names.js'
import { readSettings } from '../../../src/config/settings/settings.js'
import { readWatchlists } from '../../../src/config/watchlists/watchlists.js'

// Watchlists that are wrong, one file each, checked against settings that are right; every problem as line:column:
// message.
const cwd = resolve(import.meta.dirname, '../../fixtures/config')

const cases: Readonly<Record<string, readonly string[]>> = {
	'address-twice': ['7:14: this address is already listed in line 4; list an address once'],
	addresses: [
		'4:14: `address` must be an address: names are not resolved; write the 0x address',
		'5:14: `address` must be an address: this does not begin with 0x, and an address is 0x and 40 hex digits',
		'6:14: `address` must be an address: this does not begin with 0x, and an address is 0x and 40 hex digits',
		'7:14: `address` must be an address: `0x742d35…` has 39 hex digits after 0x, not 40',
		'8:14: `address` must be an address: character 42 of `0x742d35…` is not a hex digit',
		'9:14: `address` must be an address: this does not begin with 0x, and an address is 0x and 40 hex digits',
		'10:14: `address` must be one text or number, not a list',
		'11:14: `address` has no value; write one, or drop the line',
	],
	checksum: [
		'4:14: `address` has a wrong checksum: if no digit is mistyped, write 0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
	],
	'empty-file': ['1:1: the file is empty'],
	'from-blocks': [
		'4:71: `from_block` must be a block number such as 19000000, not `-1`',
		'5:71: `from_block` must be a block number such as 19000000, not `1.5`',
		'6:71: `from_block` must be a block number such as 19000000, not `latest`',
		'7:71: `from_block` must be a block number such as 19000000, not `0x10`',
	],
	'kinds-and-direction': [
		'5:13: an entry of `kinds` must be transfer, deployment, call, code, request, token, withdrawal, delegation, ' +
			'control, income, balance or unexplained, not `transfers`; did you mean `transfer`?',
		'5:24: an entry of `kinds` must be transfer, deployment, call, code, request, token, withdrawal, delegation, ' +
			'control, income, balance or unexplained, not `deploy`',
		'6:16: `direction` must be in, out or both, not `inn`; did you mean `in`?',
	],
	'kinds-empty': ['5:12: `kinds` is empty; name at least one'],
	'label-form': [
		'5:12: `label` must be one text or number, not a list',
		'6:11: `tags` must be a list, such as [a, b], not one text',
	],
	labels: [
		'5:12: `label` must be one line without control characters',
		'6:16: an entry of `tags` must be one line without control characters',
		'6:30: an entry of `tags` is empty',
	],
	'many-problems': [
		'1:10: no network `etherium` is in the settings; did you mean `ethereum`?',
		'2:12: `receivers` must be a list, such as [a, b], not one text',
		'4:14: `address` has a wrong checksum: if no digit is mistyped, write 0x742d35Cc6634C0532925a3b844Bc454e4438f44e',
		'6:14: `address` must be an address: `0x1…` has 1 hex digit after 0x, not 40',
		'7:17: no receiver `ops` is in the settings, which have ops-mail',
		'8:5: `address` is missing',
		'8:5: unknown key `lable`; did you mean `label`?',
	],
	'min-values': [
		'4:70: `min_value`: `-1` is not an amount; it cannot be negative',
		'5:70: `min_value`: `0,5` is not an amount; write a point: 0.5',
		'6:70: `min_value`: `1e18` is not an amount; write all its digits, without an exponent',
		'8:70: `min_value`: `0.0000000000000000001` is finer than one wei: this coin has 18 digits after the point',
		'9:70: `min_value`: `1.5 wei` is finer than one wei: wei has no digits after the point',
		'10:70: `min_value`: `lots` is not an amount; write whole coins such as 0.5, or a unit: 250 gwei, 1 wei',
		'11:70: `min_value` must be one text or number, not a list',
		'12:70: `min_value`: `0x10` is not an amount; write it in decimal digits',
		'13:70: `min_value`: `1_000` is not an amount; write whole coins such as 0.5, or a unit: 250 gwei, 1 wei',
	],
	'missing-keys': [
		'1:1: `network` is missing',
		'2:5: this watch has no receiver: name `receivers` here, or for the whole watchlist',
		'2:5: `address` is missing',
	],
	'no-watches': ['3:10: `watches` is empty; name at least one'],
	'nobody-told': ['3:5: this watch has no receiver: name `receivers` here, or for the whole watchlist'],
	'receivers-empty': ['2:12: `receivers` is empty; name at least one'],
	'unknown-keys': [
		'3:1: unknown key `recievers`; did you mean `receivers`?',
		'6:5: unknown key `lable`; did you mean `label`?',
		'7:5: unknown key `minvalue`; did you mean `min_value`?',
		'8:5: unknown key `xyzzy`',
	],
	'unknown-network-far': ['1:10: no network `solana` is in the settings, which have ethereum'],
	'unknown-network': ['1:10: no network `etherium` is in the settings; did you mean `ethereum`?'],
	thresholds: [
		'4:76: `balance_below`: `low` is not an amount; write whole coins such as 0.5, or a unit: 250 gwei, 1 wei',
		'5:76: `balance_below` is more than `balance_above`: no balance would be right',
		'6:76: `kinds` leaves out balance, so the thresholds would send no alert',
		'7:76: `balance_below`: no balance is below 0; write 1 wei to be alerted at 0',
	],
	'unknown-receiver-of-a-watch': ['5:27: no receiver `ops_mail` is in the settings; did you mean `ops-mail`?'],
	'unknown-receivers': [
		'2:13: no receiver `ops-mial` is in the settings; did you mean `ops-mail`?',
		'2:23: no receiver `pager` is in the settings, which have ops-mail',
	],
	'watch-is-a-text': ['4:5: an entry of `watches` must be keys with values, not one text'],
	'watches-not-a-list': ['4:3: `watches` must be a list, such as [a, b], not keys with values'],
	'watches-without-value': ['3:9: `watches` has no value; write one, or drop the line'],
}

describe('error: wrong watchlists', () => {
	let names: Names
	beforeAll(async () => {
		names = (await readSettings(resolve(cwd, 'good/settings.yaml'), {}, cwd)).names
	})

	test('every file has its case', () => {
		const names = readdirSync(resolve(cwd, 'bad/watchlists')).map((name) => name.replace('.yaml', ''))
		expect(Object.keys(cases).sort()).toEqual(names.sort())
	})

	test.each(Object.entries(cases))('%s', async (name, expected) => {
		const file = `bad/watchlists/${name}.yaml`
		const place = { files: [resolve(cwd, file)], named: { file: 'tracewatch.yaml', line: 1, column: 1 } }
		const { watches, problems } = await readWatchlists(place, names, cwd)
		expect(problems.map((problem) => `${problem.line}:${problem.column}: ${problem.message}`)).toEqual(expected)
		expect(new Set(problems.map((problem) => problem.file))).toEqual(new Set([file]))
		expect(watches).toBeNull()
	})
})
