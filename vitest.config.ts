import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** What all three runs share: `npm test`, `npm run test:long`, `npm run soak`. See test/support/longRun.ts, soak.ts. */
export const shared = {
	// Real nodes, mail servers and daemons run inside the tests, on machines that may have much else to do.
	testTimeout: 120_000,
	hookTimeout: 120_000,
	retry: 0,
	globalSetup: ['test/support/postgresOfRun.ts'],
	setupFiles: ['test/support/eachFile.ts'],
	reporters: ['minimal', './scripts/page-reporter.js'],
	silent: 'passed-only' as const,
	// Much of a test is waiting for others, so two cores carry six files; vitest alone would take one.
	maxWorkers: Math.max(6, availableParallelism()),
	// Each run takes the compiled modules of the runs before it.
	experimental: { fsModuleCache: true },
	// What is waited for comes when it comes: on a machine with much else to do, later than after vitest's own second.
	expect: { poll: { timeout: 60_000, interval: 20 } },
}

/**
 * Many files share a process, since to load the same modules for each took a third of their time; `src` keeps nothing
 * in modules that a neighbour could see. Files that count timers, or replace modules or globals, have their own.
 */
export const apart = [
	'test/base/waits/deadline.test.ts',
	'test/daemon/cleanedStore.long.test.ts',
	'test/kinds/newKind.long.test.ts',
	'test/scan/contracts/slowNode.long.test.ts',
]
const short = ['test/**/*.test.ts']
const others = 'test/**/*.{long,soak}.test.ts'

export default defineConfig({
	test: {
		...shared,
		projects: [
			{ extends: true, test: { name: 'apart', include: apart, exclude: [others] } },
			{ extends: true, test: { name: 'together', isolate: false, include: short, exclude: [others, ...apart] } },
		],
	},
})
