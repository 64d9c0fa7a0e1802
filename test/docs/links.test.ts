// Every link inside the repository leads somewhere: to a file, and to a heading or an anchor in it.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anchorsOf, codeOf, documents, read, root, withoutFences } from './markdown.js'

test('default: the documents that a reader looks for are there', () => {
	for (const name of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'])
		expect(documents).toContain(name)
})

describe.each([...documents, 'examples/tokens/README.md', 'packaging/release-notes.md'])('%s', (path) => {
	const text = read(path)

	test('default: the links of the document lead somewhere', () => {
		const broken: string[] = []
		for (const [, link = ''] of withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)) {
			if (/^[a-z]+:/.test(link)) continue
			const [file = '', anchor] = link.split('#')
			const target = file === '' ? path : join(dirname(path), file)
			if (!existsSync(join(root, target))) broken.push(link)
			else if (anchor !== undefined && !anchorsOf(read(target)).has(anchor)) broken.push(link)
		}
		expect(broken).toEqual([])
	})

	test('default: the files of the repository that it names are there', () => {
		const named = codeOf(text).flatMap((piece) =>
			[...piece.matchAll(/(?<![\w./-])(?:src|test|scripts|examples|schema|systemd|packaging|monitoring)\/[\w./-]+/g)]
				.map(([file]) => file.replace(/[./]+$/, ''))
				.filter((file) => !file.includes('NAME')),
		)
		expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
	})
})

/** Text in one line, without the marks of comments. */
const inLine = (text: string) => text.replaceAll(/\s*\n\s*(?:\*|\/\/|#)?\s*/g, ' ')

test('default: documents and headings that source, units and examples name are there', () => {
	const files = ['src', 'monitoring', 'systemd', 'packaging', 'examples', 'scripts', 'schema'].flatMap((folder) =>
		readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
			.filter((name) => /\.(?:ts|js|json|ya?ml|sh|service)$|Containerfile$/.test(name))
			.map((name) => `${folder}/${name}`),
	)
	const named = files.flatMap((file) =>
		[...inLine(read(file)).matchAll(/\b(docs\/\w+\.md)(?:, "([^"]+)")?/g)].map(([, path = '', heading]) => ({
			file,
			path,
			heading,
		})),
	)
	expect(named.length).toBeGreaterThan(20)
	const broken = named.filter(({ path, heading }) => {
		if (!existsSync(join(root, path))) return true
		const anchor = heading
			?.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-')
		return anchor !== undefined && !anchorsOf(read(path)).has(anchor)
	})
	expect(broken).toEqual([])
})
