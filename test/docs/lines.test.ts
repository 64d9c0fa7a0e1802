import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from './markdown.js'

/** A comment beyond this is not read. Texts in strings are held to it by review. */
const columns = 120

test('default: no comment goes beyond 120 columns', () => {
	const files = ['src', 'test', 'bench'].flatMap((folder) =>
		readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
			.filter((path) => path.endsWith('.ts'))
			.map((path) => `${folder}/${path}`),
	)
	expect(files.length).toBeGreaterThan(200)
	const long = files.flatMap((file) =>
		readFileSync(`${root}${file}`, 'utf8')
			.split('\n')
			.flatMap((line, at) => {
				const isLong = line.replaceAll('\t', '  ').length > columns
				return isLong && /^\t*(\/\*\*|\*| \* |\/\/ (?!biome-ignore))/.test(line) ? [`${file}:${at + 1}`] : []
			}),
	)
	expect(long).toEqual([])
})
