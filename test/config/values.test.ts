import { expect, test } from 'vitest'
import { readHttpUrl, readSmtpUrl, readWsUrl } from '../../src/config/values.js'

test.each([readHttpUrl, readSmtpUrl, readWsUrl])('error: a variable without braces is reported as one: %o', (read) => {
	const words = 'is a variable without braces, which stays as it is: write ' + '$' + '{NAME}'
	expect(() => read('$ETH_URL')).toThrow(words)
})
