import { defineConfig } from 'vitest/config'
import { shared } from './vitest.config.js'

export default defineConfig({
	test: {
		...shared,
		include: ['test/**/*.{long,sized}.test.ts'],
		env: { TRACEWATCH_LONG: '1' },
	},
})
