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

/** Phrases that must be read twice: the actor has a name, limits are numbers, and the field has words for the rest. */
const banned = [
	'nobody',
	'somebody',
	'whoever',
	'whomever',
	'told',
	'in vain',
	'so long',
	'so many',
	'takes nothing',
	'all is well',
	'has its turn',
	'put by',
	'letting go',
	'no longer takes',
]

const commentsAndTexts =
	/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|\$\{[^{}]*\}|[^`\\])*`/g

const bannedWords = new RegExp(`\\b(?:${banned.join('|')})\\b`, 'gi')

function bannedIn(text: string): readonly string[] {
	return [...text.replaceAll(/\s+(?:\* )?/g, ' ').matchAll(bannedWords)].map(([word]) => word)
}

test('behavior: no comment and no string in src holds a banned phrase', () => {
	const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
	const found = files.flatMap((file) => {
		const pieces = readFileSync(join('src', file), 'utf8').match(commentsAndTexts) ?? []
		return pieces.flatMap((piece) => bannedIn(piece).map((word) => `${file}: ${word}: ${piece.slice(0, 60)}`))
	})
	expect(found).toEqual([])
})

/** Titles of tests: the first text of `test(…)`, `describe(…)` their forms, and the text after a table. */
const titles = /^\s*(?:(?:test\w*|it|describe\w*|inFull)\b[^'"`\n]*|\](?: as const)?\)\()(?:\n\s*)?(['"`])(.*?)\1,/gm

/** First words of a title, after its prefix, that leave a stranger to guess which thing is meant. */
const pronouns = 'what|whatever|who|whoever|which|it|its|he|she|they|this|that|these|those|one|none|nor'

const unnamed = new RegExp(`^(?:\\w+: )?(?:${pronouns})\\b`, 'i')

const titled = readdirSync('test', { recursive: true, encoding: 'utf8' })
	.filter((file) => file.endsWith('.ts'))
	.flatMap((file) =>
		[...readFileSync(join('test', file), 'utf8').matchAll(titles)].map(([, , title = '']) => ({ file, title })),
	)

test('behavior: no title of a test holds a banned phrase', () => {
	expect(titled.length).toBeGreaterThan(2_000)
	expect(titled.flatMap(({ file, title }) => bannedIn(title).map((word) => `${file}: ${word}: ${title}`))).toEqual([])
})

test.each([
	['default: what is sent', true],
	['it is sent', true],
	['error: one alert too few', true],
	['behavior: an itemised alert is sent once', false],
])('behavior: the title "%s" names no thing: %s', (title, isUnnamed) => {
	expect(unnamed.test(title)).toBe(isUnnamed)
})

test('behavior: every title of a test begins with its thing, not with a pronoun', () => {
	const found = titled.filter(({ title }) => unnamed.test(title))
	expect(found.map(({ file, title }) => `${file}: ${title}`)).toEqual([])
})

test('behavior: no document holds a banned phrase', () => {
	const inDocs = readdirSync('docs').map((file) => `docs/${file}`)
	const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', ...inDocs]
	const found = documents
		.filter((file) => file.endsWith('.md'))
		.flatMap((file) => bannedIn(readFileSync(file, 'utf8')).map((word) => `${file}: ${word}`))
	expect(found).toEqual([])
})

test('behavior: no name in src is a word that the glossary has replaced', () => {
	const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
	expect(files.length).toBeGreaterThan(400)
	const found = files.flatMap((file) => {
		const names = new Set(readFileSync(join('src', file), 'utf8').replace(commentsAndTexts, '').match(/\w+/g))
		return retired.filter((word) => names.has(word)).map((word) => `${file}: ${word}`)
	})
	expect(found).toEqual([])
})
