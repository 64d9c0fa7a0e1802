// The figures of docs/performance.md are those of one run, and no one's memory.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { documentPath, filled, resultsPath } from '../../bench/document.js'

test('default: the tables are what the last whole run of the bench has measured', () => {
	const results = JSON.parse(readFileSync(resultsPath, 'utf8'))
	const document = readFileSync(documentPath, 'utf8')
	expect(results.quick).toBe(false)
	expect(filled(document, results)).toBe(document)
})
