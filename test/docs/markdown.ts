/**
 * Reads what the tests of this folder compare with the code: tables, code and links of the documents as they stand in
 * the tree.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export function read(path: string): string {
	return readFileSync(`${root}${path}`, 'utf8')
}

/** The documents of the project, by their path. */
export const documents: readonly string[] = ['', 'docs/'].flatMap((folder) =>
	readdirSync(`${root}${folder}`)
		.filter((name) => name.endsWith('.md'))
		.map((name) => `${folder}${name}`),
)

export interface Table {
	readonly header: readonly string[]
	/** Cells without the blanks around them. */
	readonly rows: readonly (readonly string[])[]
}

/** Every table of a document, in order. */
export function tablesOf(text: string): readonly Table[] {
	const blocks = withoutFences(text).match(/(?:^\|.*\n)+/gm) ?? []
	return blocks.map((block) => {
		const [header = [], , ...rows] = block.trim().split('\n').map(cellsOf)
		return { header, rows }
	})
}

/** The one table whose header is this; throws when there is none. */
export function tableOf(text: string, ...header: readonly string[]): Table['rows'] {
	const found = tablesOf(text).filter((table) => table.header.join('|') === header.join('|'))
	const [table, second] = found
	if (table === undefined || second !== undefined) throw new Error(`${found.length} tables are headed ${header}`)
	return table.rows
}

function cellsOf(line: string): string[] {
	return line
		.replace(/^\||\|$/g, '')
		.split('|')
		.map((cell) => cell.trim())
}

/** Contents of the fenced blocks in a language. */
export function blocksOf(text: string, language: string): readonly string[] {
	return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, body = '']) =>
		name === language ? [body] : [],
	)
}

/** Every piece of code: spans, and the lines of fenced blocks. */
export function codeOf(text: string): readonly string[] {
	const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].flatMap(([, body = '']) => body.split('\n'))
	return [...blocks, ...spansOf(withoutFences(text))]
}

/** What stands between backticks. */
export function spansOf(text: string): readonly string[] {
	return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

export function withoutFences(text: string): string {
	return text.replace(/^```[\s\S]*?^```$/gm, '')
}

/** What a link can point to inside a document: its headings as the hosting site spells them, and its own anchors. */
export function anchorsOf(text: string): ReadonlySet<string> {
	const prose = withoutFences(text)
	const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, words = '']) =>
		words
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	)
	const own = [...prose.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)
	return new Set([...headings, ...own])
}
