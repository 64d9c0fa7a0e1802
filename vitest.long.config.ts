import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { apart, shared } from './vitest.config.js'

/** They take minutes, and begin first: one that begins last would run alone. */
const longest = [
	'scenarios',
	'canary',
	'truth.dialects',
	'booksStrained',
	'killGrid',
	'scan/strained',
	'program/database',
	'everyBlock',
	'longLists',
	'badBlocks',
	'pages/browser',
	'inputs',
	'everyMessage',
	'scan/gaps',
	'truth.strangers',
	'oddFields',
]

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId }: TestSpecification) => {
			const at = longest.findIndex((name) => moduleId.includes(`/${name}.`))
			return at === -1 ? longest.length : at
		}
		return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
	}
}

/** As in `npm test`, most files share a process. */
const all = ['test/**/*.sized.test.ts', 'test/**/*.long.test.ts']
const own = apart.filter((file) => /\.(sized|long)\.test\.ts$/.test(file))

export default defineConfig({
	test: {
		...shared,
		testTimeout: 400_000,
		hookTimeout: 400_000,
		expect: { poll: { timeout: 120_000, interval: 20 } },
		sequence: { sequencer: LongestFirst },
		env: { TRACEWATCH_LONG: '1' },
		maxWorkers: 5,
		projects: [
			{ extends: true, test: { name: 'apart', include: own } },
			{ extends: true, test: { name: 'together', isolate: false, include: all, exclude: apart } },
		],
	},
})
