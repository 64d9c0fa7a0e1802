/**
 * For vitest: what failed, a line each, appended to the file that FAILURES_FILE names. The report of a long run is
 * itself so long that it may be cut where it is read.
 */
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'

const mostChars = 300

function line(parts) {
	const text = parts.filter((part) => part !== undefined).join(' > ')
	const printable = text.replace(/\p{Cc}+/gu, ' ')
	return `${printable.slice(0, mostChars)}\n`
}

// biome-ignore lint/style/noDefaultExport: vitest loads no other
export default class FailuresReporter {
	onTestRunEnd(modules, unhandledErrors) {
		const lines = []
		for (const module of modules) {
			for (const error of module.errors()) lines.push(line([module.relativeModuleId, error.message]))
			for (const test of module.children.allTests('failed')) {
				for (const { message } of test.result().errors)
					lines.push(line([module.relativeModuleId, test.fullName, message]))
			}
		}
		for (const { VITEST_TEST_PATH: path, VITEST_TEST_NAME: test, name, message, stack = '' } of unhandledErrors) {
			const at = stack.split('\n').find((one) => one.includes('/src/') || one.includes('/test/'))
			const module = path && relative(process.cwd(), path)
			lines.push(line(['unhandled', module, test, `${name}: ${message}`, at?.trim()]))
		}
		const file = process.env.FAILURES_FILE
		if (file !== undefined) appendFileSync(file, lines.join(''))
	}
}
