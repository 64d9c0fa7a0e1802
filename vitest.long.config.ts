import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { apart, shared } from './vitest.config.js'

/** They take minutes, and begin first: one that begins last would run alone. */
const longest = ['killGrid', 'killBooks', 'lockRaces', 'canary.long', 'strained', 'coldStart', 'inputs']

class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const rank = ({ moduleId }: TestSpecification) => {
			const at = longest.findIndex((name) => moduleId.includes(`/${name}.`))
			return at === -1 ? longest.length : at
		}
		return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
	}
}

/** As in `npm test`, files share a process; those of this run alone have their own. */
const sized = 'test/**/*.sized.test.ts'
const own = ['test/**/*.long.test.ts', ...apart.filter((file) => file.endsWith('.sized.test.ts'))]

export default defineConfig({
	test: {
		...shared,
		sequence: { sequencer: LongestFirst },
		env: { TRACEWATCH_LONG: '1' },
		maxWorkers: 4,
		projects: [
			{ extends: true, test: { name: 'apart', include: own } },
			{ extends: true, test: { name: 'together', isolate: false, include: [sized], exclude: apart } },
		],
	},
})
