// Puts the tables of the last whole run into docs/performance.md, between the marks that stand there.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Results, tablesOf } from './report.js'

/** Where the repository lies, whether this runs as it is or compiled. */
const root = import.meta.dirname.replace(/[/\\]bench([/\\]\.built[/\\]bench)?$/, '')
export const documentPath = join(root, 'docs', 'performance.md')
export const resultsPath = join(root, 'bench', 'results.json')

/** The document with the tables of these results. Throws where a mark is missing. */
export function filled(document: string, results: Results): string {
	let text = document
	for (const [name, table] of Object.entries(tablesOf(results))) {
		const [begin, end] = [`<!-- bench: ${name} -->\n`, `<!-- bench ends: ${name} -->`]
		const [from, to] = [text.indexOf(begin), text.indexOf(end)]
		if (from === -1 || to < from) throw new Error(`docs/performance.md lacks the marks of the table "${name}"`)
		text = `${text.slice(0, from + begin.length)}\n${table}\n\n${text.slice(to)}`
	}
	return text
}

export function fillDocument(results: Results): void {
	writeFileSync(documentPath, filled(readFileSync(documentPath, 'utf8'), results))
}
