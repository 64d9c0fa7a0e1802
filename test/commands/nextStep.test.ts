import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { typed } from '../support/commandLine.js'
import { temporaryFolder } from '../support/folder.js'

test('default: without a command it suggests setup, and beside a configuration what tries it', async () => {
	const cwd = temporaryFolder()
	const nothing = await typed([], { cwd })
	expect(nothing).toMatchObject({ code: 2, stdout: expect.stringMatching(/^ {2}sudo tracewatch setup /m) })
	writeFileSync(join(cwd, 'tracewatch.yaml'), '')
	const { stdout } = await typed([], { cwd })
	expect(stdout).toContain(`The configuration is ${join(cwd, 'tracewatch.yaml')}. Next:`)
	for (const act of ['check', 'doctor', 'status']) expect(stdout).toMatch(new RegExp(`^ {2}tracewatch ${act} `, 'm'))
})

test.each([
	['npx tracewatch', { npm_command: 'exec' }, '/usr/bin/tracewatch'],
	['node dist/cli.js', {}, resolve('dist/cli.js')],
])('behavior: in a clone, where `%s` starts the program, it suggests that', async (call, env, path) => {
	const [, before = ''] = process.argv
	onTestFinished(() => {
		process.argv[1] = before
	})
	process.argv[1] = path
	const { stdout } = await typed([], { cwd: temporaryFolder(), env })
	const [, said = ''] = stdout.split('Nothing is configured here.')
	expect(said).toContain(`\n  ${call} setup --dir FOLDER `)
	expect(said).not.toMatch(/sudo|^ {2}tracewatch /m)
})
