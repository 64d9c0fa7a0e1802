/** What a user installs: the packed program, by the packages that were tested and no others. */

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/folder.js'
import { inFull, testOnce } from '../support/longRun.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Entry {
	readonly version: string
	readonly integrity?: string
	readonly resolved?: string
	readonly dev?: boolean
	readonly optional?: boolean
	readonly dependencies?: Readonly<Record<string, string>>
}

const read = (path: string) =>
	JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, Entry>; dependencies?: Record<string, string> }

inFull(() => {
	test('behavior: the package has lockfile, sums and licences of its packages, and no demo', () => {
		const folder = temporaryFolder()
		// Without `prepare`: it builds, and the build is of no matter here.
		execFileSync(process.execPath, ['scripts/shrinkwrap.js'], { cwd: root })
		try {
			execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
				cwd: root,
				stdio: 'pipe',
			})
		} finally {
			execFileSync(process.execPath, ['scripts/shrinkwrap.js', '--remove'], { cwd: root })
		}
		const [archive = ''] = execFileSync('ls', [folder], { encoding: 'utf8' }).trim().split('\n')
		execFileSync('tar', ['-xzf', join(folder, archive), '-C', folder])
		const { packages } = read(join(folder, 'package/npm-shrinkwrap.json'))
		const lock = read(join(root, 'package-lock.json')).packages
		const { dependencies = {} } = read(join(root, 'package.json'))

		// Whatever is reached from the dependencies stands there, in the version that the tests ran with.
		const names = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')))
		for (const name of Object.keys(dependencies)) expect([name, names.has(name)]).toEqual([name, true])
		for (const [path, entry] of Object.entries(packages)) {
			if (path === '') continue
			expect(entry.version).toBe(lock[path]?.version)
			expect(entry.integrity).toMatch(/^sha512-[A-Za-z0-9+/]+=*$/)
			expect(entry).not.toHaveProperty('resolved')
			expect(entry).not.toHaveProperty('dev')
			for (const needed of Object.keys(entry.dependencies ?? {}))
				expect([path, needed, names.has(needed)]).toEqual([path, needed, true])
		}
		expect(['vitest', 'typescript', '@typescript/typescript-linux-x64'].filter((name) => names.has(name))).toEqual([])
		expect(existsSync(join(folder, 'package/examples/demo'))).toBe(false)
		const licences = readFileSync(join(folder, 'package/THIRD-PARTY.md'), 'utf8')
		for (const name of names) if (name !== '') expect(licences).toContain(`| ${name} |`)
	})
})

testOnce('default: every entry of the lockfile has a sum, but for tools of other platforms, named by hand', () => {
	const { packages } = read(join(root, 'package-lock.json'))
	const without = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && integrity === undefined)
	expect(without.filter(([, { dev, optional }]) => dev !== true || optional !== true)).toEqual([])
})
