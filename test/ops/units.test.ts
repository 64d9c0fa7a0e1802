import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const read = (name: string) => readFileSync(new URL(`../../systemd/${name}`, import.meta.url), 'utf8')

/** Lines of a unit without comments and blank ones. */
function linesOf(name: string): string[] {
	return read(name)
		.split('\n')
		.filter((line) => line !== '' && !line.startsWith('#'))
}

const daemon = linesOf('tracewatch.service')

describe('the units', () => {
	test('behavior: every line of every unit stands below a reason', () => {
		for (const name of ['tracewatch.service', 'tracewatch@.service.d/instance.conf']) {
			const blocks = read(name).split('\n\n')
			const bare = blocks.filter((block) => !block.includes('#') && !/^\[(Install|Unit)\]/.test(block.trim()))
			expect(bare, name).toEqual([])
		}
	})

	test('behavior: the example keeps its state and its secrets where the unit lets it write and read', () => {
		const example = read('tracewatch.yaml')
		expect(daemon).toContain('StateDirectory=tracewatch')
		expect(example).toMatch(/^state: \/var\/lib\/tracewatch\s/m)
		const named = [...example.matchAll(/^[^#\n]*\$\{(\w+)\}/gm)].map(([, name]) => name)
		expect(named.length).toBeGreaterThan(0)
		expect(daemon).toContain('LoadCredential=tracewatch:/etc/tracewatch/secrets')
	})

	test('behavior: a wrong configuration is not tried again, anything else is', () => {
		expect(daemon).toContain('Restart=always')
		expect(daemon).toContain('RestartPreventExitStatus=78 2')
		expect(daemon).toContain('StartLimitIntervalSec=0')
	})
})
