import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { nodeRefusal } from '../src/version.js'

test('default: a Node that runs the program is not refused', () => {
	for (const version of ['20.19.0', '20.20.2', '22.0.0', '24.1.0']) expect(nodeRefusal(version)).toBeNull()
})

test('error: an older one is refused in a sentence that says what to do', () => {
	for (const version of ['18.20.4', '20.18.3', '16.0.0']) {
		expect(nodeRefusal(version)).toContain(`needs Node 20.19 or newer, and this is Node ${version}`)
	}
})

// scripts/booted-systemd.sh asks real ones; this says it at once.
test('behavior: files that an old Node reads before it is refused hold no syntax unknown to it', () => {
	const read = new Set<string>()
	const follow = (path: string) => {
		if (read.has(path)) return
		read.add(path)
		const text = readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\/\/.*$/gm, '')
		// Syntax of Node 14 and younger, and what a module of 12 cannot do.
		expect(text.match(/\?\.|\?\?|\|\|=|&&=|^\s*(?:return )?await |static \{|#\w+/gm), path).toBeNull()
		for (const [, from = ''] of text.matchAll(/^import (?:.* from )?["']([^"']+)["']/gm)) {
			if (from.startsWith('.')) follow(join(dirname(path), from))
			else expect(from, path).toBe('node:fs')
		}
	}
	follow('dist/cli.js')
	expect([...read].sort()).toEqual(['dist/cli.js', 'dist/version.js'])
})
