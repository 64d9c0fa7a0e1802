import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { shared } from './vitest.config.js'

/** They take minutes, and begin first: one that begins last would run alone. */
const longest = ['killLoop', 'killBooks', 'lockRaces', 'canary.long', 'strained', 'coldStart', 'inputs']

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId }: TestSpecification) => {
			const at = longest.findIndex((name) => moduleId.includes(`/${name}.`))
			return at === -1 ? longest.length : at
		}
		return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
	}
}

/** What holds a time or a memory against a bound: one after another when all else is done, or a neighbour is measured. */
const alone = [
	'test/config/watchlists/large.sized.test.ts',
	'test/notify/email/mailSpeed.sized.test.ts',
	'test/pages/large.sized.test.ts',
	'test/program/{fastChains,floods,hostileBlocks,million}.long.test.ts',
	'test/state/file/historySpeed.sized.test.ts',
	'test/scan/{floodTime.long,hostile.sized}.test.ts',
]

export default defineConfig({
	test: {
		...shared,
		sequence: { sequencer: LongestFirst },
		env: { TRACEWATCH_LONG: '1' },
		projects: [
			{
				extends: true,
				test: {
					name: 'together',
					include: ['test/**/*.{long,sized}.test.ts'],
					exclude: alone,
					maxWorkers: 4,
					sequence: { groupOrder: 0 },
				},
			},
			{
				extends: true,
				test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } },
			},
		],
	},
})
