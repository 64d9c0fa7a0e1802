import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { shared } from './vitest.config.js'

/** `x.soak.test.ts`, and each file that imports test/support/soak.ts; one after another: a neighbour would be measured too. */
const include = readdirSync('test', { recursive: true, encoding: 'utf8' })
	.filter((file) => file.endsWith('.test.ts'))
	.filter((file) => file.endsWith('.soak.test.ts') || readFileSync(`test/${file}`, 'utf8').includes('support/soak.js'))
	.map((file) => `test/${file}`)

export default defineConfig({
	test: {
		...shared,
		testTimeout: 1_200_000,
		hookTimeout: 400_000,
		expect: { poll: { timeout: 120_000, interval: 20 } },
		env: { TRACEWATCH_LONG: '1', TRACEWATCH_SOAK: '1' },
		include,
		maxWorkers: 1,
	},
})
