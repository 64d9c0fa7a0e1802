import { defineConfig } from 'vitest/config'

export default defineConfig({
	test: {
		include: ['test/**/*.test.ts'],
		// Real nodes, mail servers and daemons run inside the tests.
		testTimeout: 60_000,
		hookTimeout: 60_000,
		retry: 0,
	},
})
