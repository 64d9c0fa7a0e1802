/** The canary, before anything runs: a configuration that is wrong is told without its secrets. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Ended } from '../support/program.js'
import { type CanarySite, canaries, openCanarySite } from './canarySite.js'

const { odd, plain, signing } = canaries

/** With its log where the program itself is run, which each way into it is once. */
const checkAndRun = (site: CanarySite, env: Readonly<Record<string, string>>, isBuilt: boolean) =>
	Promise.all([site.type(['check'], env), site[isBuilt ? 'run' : 'type'](['run'], env)])

function expectRefusal(ends: readonly Ended[]): void {
	for (const { code, stdout, stderr } of ends) {
		expect(code).toBe(78)
		expect(canaries.in(stdout + stderr)).toEqual([])
	}
}

describe('no secret leaves', () => {
	const wrong: readonly (readonly [name: string, value: string])[] = [
		['RPC_URL', plain('rpc path')],
		['RPC_URL', `ftp://${plain('rpc user')}@host/${plain('rpc path')}`],
		['RPC_URL', `https://host with spaces/${plain('rpc path')}`],
		['RPC_URL', `https://host:99999/${plain('rpc path')}`],
		['RPC_URL', `//${odd('rpc path')}`],
		['HOOK_SECRET', odd('signing secret')],
		['HOOK_SECRET', `whsec_${plain('signing secret')}`],
		['HOOK_SECRET', `${signing('signing secret')} ${plain('signing secret')}`],
		['HOOK_URL', `${odd('hook path')}`],
		['HOOK_URL', `mailto:${plain('hook path')}@example.org`],
		['HOOK_TOKEN', odd('hook token')],
		['HOOK_TOKEN', `two\nlines${plain('hook token')}`],
	]
	test.each(wrong.map((row, at) => [...row, at] as const))(
		'from a configuration with a wrong %s',
		async (name, value, at) => {
			const site = openCanarySite()
			expectRefusal(await checkAndRun(site, { [name]: value }, name !== wrong[at - 1]?.[0]))
		},
	)

	const mark = plain('inline')
	const slips: readonly (readonly [what: string, value: string])[] = [
		['an open quote', `"https://host/${mark}`],
		['an alias', `*${mark}`],
		['an anchor', `&${mark}`],
		['a tag', `!${mark} x`],
		['an at sign', `@${mark}`],
		['a backtick', `\`${mark}`],
		['a percent sign', `%${mark}`],
		['a colon', `https://host: ${mark}`],
		['brackets', `[${mark}`],
		['braces', `{${mark}: {`],
		['a wrong escape', `"\\q${mark}"`],
		['a block', `|\n  ${mark}\n ${mark}`],
		['a tab', `\n\t${mark}`],
		['a second one', `x\n    url: ${mark}`],
		['a list', `[https://host/${mark}]`],
		['an object', `{${mark}: 1}`],
		['a variable with a default', `\${HOOK_URL:-https://host/${mark}}`],
		['a variable left open', `\${${mark}`],
		['another scheme', `gopher://${mark}@host/${mark}`],
		['a quote inside', `"https://host/"${mark}`],
	]
	/** One that cannot be parsed, one of a wrong type, one that is filled in, one that is read. */
	const built = new Set(['an open quote', 'a list', 'a variable left open', 'another scheme'])
	test.each(slips)('from a file with a slip: %s', async (what, value) => {
		const site = openCanarySite()
		const text = readFileSync(join(site.folder, 'tracewatch.yaml'), 'utf8')
		site.write(
			'tracewatch.yaml',
			text.replace(/url: .*HOOK_URL./, () => `url: ${value}`),
		)
		expectRefusal(await checkAndRun(site, { LOG_LEVEL: 'debug' }, built.has(what)))
	})
})
