import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** What both runs share: `npm test`, and `npm run test:long` (vitest.long.config.ts). See test/support/longRun.ts. */
export const shared = {
	// Real nodes, mail servers and daemons run inside the tests, on machines that may have much else to do.
	testTimeout: 180_000,
	hookTimeout: 180_000,
	retry: 0,
	// Much of a test is waiting for others, so two cores carry three files; vitest alone would take one.
	maxWorkers: Math.max(3, availableParallelism()),
	// What is waited for comes when it comes: on a machine with much else to do, later than after vitest's own second.
	expect: { poll: { timeout: 30_000, interval: 20 } },
}

export default defineConfig({
	test: { ...shared, include: ['test/**/*.test.ts'], exclude: ['test/**/*.long.test.ts'] },
})
