/**
 * For vitest, beside its `minimal` reporter: the slowest files, what could not be proved on this machine, and how to
 * run alone what failed. The file that
 * FAILURES_FILE names takes a line for each failure; the one that COUNTS_FILE names takes how many passed and failed.
 */
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'

const mostChars = 300
const slowestFiles = 12

function line(parts) {
	const text = parts.filter((part) => part !== undefined).join(' > ')
	return text.replace(/\p{Cc}+/gu, ' ').slice(0, mostChars)
}

function appendTo(file, lines) {
	if (file !== undefined && lines.length > 0) appendFileSync(file, `${lines.join('\n')}\n`)
}

/** The pattern that `-t` takes, quoted for a shell. */
const named = (test) => `'${test.fullName.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll("'", '.')}'`

// biome-ignore lint/style/noDefaultExport: vitest loads no other
export default class PageReporter {
	#config = ''
	#notProved = new Set()

	onInit({ vite }) {
		const file = relative(process.cwd(), vite.config.configFile || '')
		if (file !== '' && file !== 'vitest.config.ts') this.#config = ` --config ${file}`
	}

	onUserConsoleLog({ content }) {
		for (const one of content.match(/^NOT PROVED HERE: .*$/gm) ?? []) this.#notProved.add(one)
	}

	onTestRunEnd(modules, unhandledErrors) {
		const failures = []
		const alone = []
		let [passed, failed] = [0, 0]
		for (const module of modules) {
			for (const error of module.errors()) failures.push(line([module.relativeModuleId, error.message]))
			for (const test of module.children.allTests()) {
				const { state, errors } = test.result()
				if (state === 'passed') passed += 1
				if (state !== 'failed') continue
				failed += 1
				for (const { message } of errors) failures.push(line([module.relativeModuleId, test.fullName, message]))
				alone.push(`npx vitest run${this.#config} ${module.relativeModuleId} -t ${named(test)}`)
			}
		}
		for (const { VITEST_TEST_PATH: path, VITEST_TEST_NAME: test, name, message, stack = '' } of unhandledErrors) {
			const at = stack.split('\n').find((one) => one.includes('/src/') || one.includes('/test/'))
			failures.push(line(['unhandled', path && relative(process.cwd(), path), test, `${name}: ${message}`, at?.trim()]))
		}
		const took = modules.map((module) => [module.diagnostic().duration / 1_000, module.relativeModuleId])
		const slowest = took.sort(([one], [other]) => other - one).slice(0, slowestFiles)
		if (modules.length > slowestFiles) {
			console.log('\nSlowest files, in seconds:')
			for (const [seconds, file] of slowest) console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`)
		}
		for (const one of this.#notProved) console.log(one)
		if (alone.length > 0) console.log(`\nEach alone:\n${alone.join('\n')}`)
		appendTo(process.env.FAILURES_FILE, failures)
		appendTo(process.env.COUNTS_FILE, [`${passed} ${failed}`])
	}
}
