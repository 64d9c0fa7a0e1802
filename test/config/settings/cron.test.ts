import { describe, expect, test } from 'vitest'
import { longestGapMs, readSchedule, stepsInWords } from '../../../src/config/settings/cron.js'
import { stallAfterMs } from '../../../src/config/settings/settingsSchema.js'
import { readSmtpUrl } from '../../../src/config/values.js'

describe('a schedule', () => {
	test.each([
		['*/12 * * * * *', 'every 12s', 12_000],
		['* * * * * *', 'every 1s', 1_000],
		['0 * * * *', 'every 1h', 3_600_000],
		['* * * * *', 'every 1m', 60_000],
		['0 0 3 * * *', 'every 1d', 86_400_000],
		['*/7 * * * * *', 'at "*/7 * * * * *"', 7_000],
	])('%s is %s in words', (schedule, words, gapMs) => {
		expect(stepsInWords(readSchedule(schedule))).toBe(words)
		expect(longestGapMs(schedule)).toBe(gapMs)
	})

	test('error: a schedule that no day fits never comes', () => {
		expect(() => readSchedule('0 0 0 L-30 2 *')).toThrow(/^never comes: no day fits /)
	})

	test('the time without progress that is a stall', () => {
		const often = { schedule: '* * * * * *', confirmations: 3 }
		expect(stallAfterMs(often)).toBe(600_000)
		expect(stallAfterMs({ ...often, confirmations: 'safe' })).toBe(2_700_000)
		expect([stallAfterMs({ ...often, stall_after: null }), stallAfterMs({ ...often, stall_after: 5 })]).toEqual([
			null,
			5,
		])
		// Two and a half hours: a poll by the hour is no stall.
		expect(stallAfterMs({ ...often, schedule: '0 0 * * * *' })).toBe(9_000_000)
	})
})

describe('an SMTP URL', () => {
	test.each([
		'smtp://user:p@ss/word@host',
		'smtps://user:p@ss?word@host',
		'smtp://user:p@ss#word@host',
		'smtp://host/x',
	])('error: %s, of which nothing is shown', (url) => {
		expect(() => readSmtpUrl(url)).toThrow(/^has something after the host and port/)
		expect(() => readSmtpUrl(url)).not.toThrow(/p@ss|word@|host\/x/)
	})

	test('default: with an encoded password, and without a path', () => {
		expect(readSmtpUrl('smtp://user:p%40ss%2Fword@host')).toBe('smtp://user:p%40ss%2Fword@host:587')
		expect(readSmtpUrl('smtps://host/')).toBe('smtps://host:465/')
	})
})
