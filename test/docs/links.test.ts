// Every link inside the repository leads somewhere: to a file, and to a heading or an anchor in it.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { anchorsOf, read, root, withoutFences } from './markdown.js'

const documents = ['.', 'docs'].flatMap((folder) =>
	readdirSync(join(root, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => join(folder, name)),
)

test('default: the documents that a reader looks for are there', () => {
	for (const name of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'])
		expect(documents).toContain(name)
})

test.each(documents)('default: the links of %s lead somewhere', (path) => {
	const broken: string[] = []
	for (const [, link = ''] of withoutFences(read(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
		if (/^[a-z]+:/.test(link)) continue
		const [file = '', anchor] = link.split('#')
		const target = file === '' ? path : join(dirname(path), file)
		if (!existsSync(join(root, target))) broken.push(link)
		else if (anchor !== undefined && !anchorsOf(read(target)).has(anchor)) broken.push(link)
	}
	expect(broken).toEqual([])
})
