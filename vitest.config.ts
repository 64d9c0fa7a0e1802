import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** What both runs share: `npm test`, and `npm run test:long` (vitest.long.config.ts). See test/support/longRun.ts. */
export const shared = {
	// Real nodes, mail servers and daemons run inside the tests, on machines that may have much else to do.
	testTimeout: 400_000,
	hookTimeout: 400_000,
	retry: 0,
	setupFiles: ['test/support/eachFile.ts'],
	// Much of a test is waiting for others, so two cores carry six files; vitest alone would take one.
	maxWorkers: Math.max(6, availableParallelism()),
	// What is waited for comes when it comes: on a machine with much else to do, later than after vitest's own second.
	expect: { poll: { timeout: 120_000, interval: 20 } },
}

/**
 * Many files share a process, since to load the same modules for each took a third of their time; `src` keeps nothing
 * in modules that a neighbour could see. Files that measure memory or processor, count
 * timers or replace modules have their own.
 */
const measured = [
	'test/base/waits/deadline.test.ts',
	'test/chain/fuzz.sized.test.ts',
	'test/chain/stream/{jsonStream,largeAnswers}*.test.ts',
	'test/config/watchlists/large.sized.test.ts',
	'test/daemon/cleanedStore.sized.test.ts',
	'test/kinds/newKind.test.ts',
	'test/notify/email/mailSpeed.sized.test.ts',
	'test/notify/webhook/webhook.test.ts',
	'test/pages/large.sized.test.ts',
	'test/state/file/historySpeed.sized.test.ts',
	'test/scan/{hostile,strained,forecast}*.test.ts',
]
const short = ['test/**/*.test.ts']
const long = 'test/**/*.long.test.ts'

export default defineConfig({
	test: {
		...shared,
		projects: [
			{ extends: true, test: { name: 'measured', include: measured, exclude: [long] } },
			{
				extends: true,
				test: { name: 'together', isolate: false, include: short, exclude: [long, ...measured] },
			},
		],
	},
})
