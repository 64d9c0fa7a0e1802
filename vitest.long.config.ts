import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { shared } from './vitest.config.js'

/** They take minutes, and begin first: one that begins last would run alone. */
const longest = ['killLoop', 'lockRaces', 'canary.long', 'strained', 'coldStart', 'inputs', 'million']

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId }: TestSpecification) => {
			const at = longest.findIndex((name) => moduleId.includes(`/${name}.`))
			return at === -1 ? longest.length : at
		}
		return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
	}
}

export default defineConfig({
	test: {
		...shared,
		// Some measure time: as many at once as in the runs whose figures stand in docs/performance.md.
		maxWorkers: 4,
		sequence: { sequencer: LongestFirst },
		include: ['test/**/*.{long,sized}.test.ts'],
		env: { TRACEWATCH_LONG: '1' },
	},
})
