#!/usr/bin/env node
/**
 * What the packed program is installed with, made from package-lock.json when it is packed, and taken away afterwards:
 * `npm-shrinkwrap.json` (the packages that the tests ran with, each with the sum of its content, and no others) and
 * `THIRD-PARTY.md` (whose they are, and under which licence). `--remove` takes both away; `--to DIR` writes them there.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = process.argv[2] === '--to' ? process.argv[3] : root
const [wrap, list] = ['npm-shrinkwrap.json', 'THIRD-PARTY.md'].map((name) => join(folder, name))

if (process.argv.includes('--remove')) {
	rmSync(wrap, { force: true })
	rmSync(list, { force: true })
} else {
	const { packages, ...head } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
	const { devDependencies: _, ...own } = packages['']
	const reached = new Set()
	const reach = (from) => {
		const { dependencies = {}, optionalDependencies = {} } = packages[from]
		for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
			const path = placeOf(name, from)
			if (path === null || reached.has(path)) continue
			reached.add(path)
			reach(path)
		}
	}
	/** Where a package finds another: beside its own packages, or one storey further up. */
	const placeOf = (name, from) => {
		const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`
		if (packages[path] !== undefined) return path
		return from === '' ? null : placeOf(name, from.replace(/(^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, ''))
	}
	reach('')
	const used = Object.entries(packages).filter(([path]) => reached.has(path))
	const wrong = used.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([path]) => path)
	if (wrong.length > 0) throw new Error(`package-lock.json has no sum for ${wrong.join(', ')}`)
	// Where each came from is the installer's own registry; its content is held by the sum.
	const kept = used.map(([path, { resolved: __, ...entry }]) => [path, entry])
	writeFileSync(
		wrap,
		`${JSON.stringify({ ...head, packages: Object.fromEntries([['', own], ...kept]) }, null, '\t')}\n`,
	)

	const rows = used.map(([path, { version, license, optional }]) => {
		const name = path.replace(/^.*node_modules\//, '')
		if (typeof license !== 'string') throw new Error(`package-lock.json names no licence of ${name}`)
		return `| ${name} | ${version} | ${license}${optional ? ' (optional)' : ''} |`
	})
	const title = '# Packages that tracewatch is installed with\n\nTheir licence texts come with them, in `node_modules`.'
	writeFileSync(list, `${title}\n\n| package | version | licence |\n|---|---|---|\n${rows.join('\n')}\n`)
}
