// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { divided, testOnce } from '../support/longRun.js'
import { inProcess, settings, siteOf, treasury, watchlist } from './site.js'

const files = {
	'mine/tracewatch.yaml': settings('${NODE_URL}', { hook: '${HOOK_URL}' }),
	'mine/watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
	'mine/secrets/NODE_URL': 'http://127.0.0.1:9/Canary-node-0123456789\n',
	'mine/secrets/HOOK_URL': 'http://127.0.0.1:9/Canary-hook-0123456789\n',
}
const check = ['check', '-c', 'mine/tracewatch.yaml']
const lineOf = (text: string) => files['mine/tracewatch.yaml'].split('\n').findIndex((line) => line.includes(text)) + 1

function siteWith(more: Readonly<Record<string, string>> = {}) {
	const site = siteOf({ ...files, ...more })
	for (const name of ['NODE_URL', 'HOOK_URL']) chmodSync(join(site.folder, 'mine/secrets', name), 0o600)
	return inProcess(site)
}

testOnce(
	'secrets beside tracewatch.yaml are found from any folder, and not shown; an open one is warned of',
	async () => {
		const site = siteWith()
		const { code, stdout, stderr } = await site.run(check)
		expect(code).toBe(0)
		expect(stdout).toContain('127.0.0.1')
		expect(stderr).not.toContain('chmod')

		const path = join(site.folder, 'mine/secrets/HOOK_URL')
		chmodSync(path, 0o644)
		const open = await site.run(check)
		expect(open.code).toBe(0)
		const warned = open.stderr.split('\n').filter((line) => line.includes('every user'))
		expect(warned).toHaveLength(1)
		expect(warned[0]).toMatch(
			new RegExp(`^warning: mine/tracewatch.yaml:${lineOf('${HOOK_URL}')}:\\d+: .*chmod 600 ${path}`),
		)
		expect(stdout + stderr + open.stdout + open.stderr).not.toContain('Canary')
	},
)

const wrong: Readonly<Record<string, readonly [content: string | null, words: RegExp]>> = {
	missing: [null, /\$\{GONE} is not set: write it to \S+\/mine\/secrets\/GONE \(mode 0600\), or .*GONE_FILE/],
	empty: ['', /mine\/secrets\/GONE is empty$/],
	blank: ['\r\n', /mine\/secrets\/GONE is empty$/],
	'too large': ['Canary'.repeat(20_000), /mine\/secrets\/GONE cannot be read: it is larger than 64 KiB/],
}

test.each(divided(Object.entries(wrong), (_, index) => index < 2))(
	'error: a secret that is %s, at its line, before other mistakes',
	async (_, [content, words]) => {
		const text = files['mine/tracewatch.yaml'].replace('HOOK_URL', 'GONE').replace('chain_id', 'chainid')
		const more = content === null ? {} : { 'mine/secrets/GONE': content }
		const { code, stdout, stderr } = await siteWith({ 'mine/tracewatch.yaml': text, ...more }).run(check)
		expect(code).toBe(78)
		const [first = '', ...others] = stderr.split('\n')
		expect(first).toMatch(new RegExp(`^mine/tracewatch.yaml:${lineOf('${HOOK_URL}')}:`))
		expect(first).toMatch(words)
		expect(others.join('\n')).toMatch(/^mine\/tracewatch.yaml:3:5: unknown key `chainid`/m)
		expect(stdout + stderr).not.toContain('Canary')
	},
)

testOnce('error: a folder in place of a secret is named as one', async () => {
	const site = siteWith({ 'mine/tracewatch.yaml': files['mine/tracewatch.yaml'].replace('HOOK_URL', 'GONE') })
	mkdirSync(join(site.folder, 'mine/secrets/GONE'))
	expect((await site.run(check)).stderr).toMatch(/secrets\/GONE cannot be read: it is a folder/)
})
