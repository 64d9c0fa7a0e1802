import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Words that once stood for several ideas; the glossary has one for each of them now. */
const retired = [
	'apart',
	'bell',
	'carrier',
	'cede',
	'collector',
	'dialect',
	'lane',
	'manners',
	'mend',
	'orphans',
	'pace',
	'sieve',
	'telling',
	'tellings',
	'told',
	'withdrawn',
]

/** Names in files and tables that version 0.1.0 has written. */
const stored: Readonly<Record<string, readonly string[]>> = {
	'state/file/codec.ts': ['told'],
	'state/postgres/outbox.ts': ['lane'],
	'state/postgres/claims.ts': ['lane'],
}

const commentsAndTexts =
	/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|\$\{[^{}]*\}|[^`\\])*`/g

test('behavior: no name in src is a word that the glossary has replaced', () => {
	const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
	expect(files.length).toBeGreaterThan(400)
	const found = files.flatMap((file) => {
		const names = new Set(readFileSync(join('src', file), 'utf8').replace(commentsAndTexts, '').match(/\w+/g))
		return retired.filter((word) => names.has(word) && !stored[file]?.includes(word)).map((word) => `${file}: ${word}`)
	})
	expect(found).toEqual([])
})
