import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from './markdown.js'

/** Beyond this nothing is read: no comment, no string, no line of SQL. A tab counts as 2, as in biome's line width. */
const columns = 120

test('default: no line of code goes beyond 120 columns', () => {
	const folders = ['src', 'test', 'bench', 'scripts', 'systemd', 'examples', '.ci']
	const files = folders.flatMap((folder) =>
		readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
			.filter(
				(path) => /\.(?:ts|js|sh|service|timer|conf|yaml)$|^run$/.test(path) && !/^(?:fixtures|\.built)\//.test(path),
			)
			.map((path) => `${folder}/${path}`),
	)
	expect(files.length).toBeGreaterThan(200)
	const long = files.flatMap((file) =>
		readFileSync(`${root}${file}`, 'utf8')
			.split('\n')
			.flatMap((line, at) => (line.replaceAll('\t', '  ').length > columns ? [`${file}:${at + 1}`] : [])),
	)
	expect(long).toEqual([])
})
