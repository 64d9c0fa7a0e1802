import { expect, test } from 'vitest'
import { quote } from '../../../src/notify/text/connectionFailure.js'

test('behavior: of an answer of megabytes, some thousand characters are searched for secrets', () => {
	const searched: number[] = []
	const hide = (text: string) => {
		searched.push(text.length)
		return text.replaceAll('s3cr3t', '[secret]')
	}
	expect(quote(`no: s3cr3t${' again'.repeat(1_000_000)}`, hide)).toMatch(/^no: \[secret\] again/)
	expect(searched).toEqual([8_192])
})
