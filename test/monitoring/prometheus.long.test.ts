// The rules and the dashboard of monitoring/, by Debian's promtool, and by a real Prometheus that scrapes the program.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { root } from '../docs/markdown.js'
import { hookServer, other, polled, settings, siteOf, treasury, watchlist } from '../program/site.js'
import { startTestAnvil } from '../support/anvil.js'
import { freePort } from '../support/freePort.js'
import { notProved } from '../support/notProved.js'

const run = promisify(execFile)
const monitoring = join(root, 'monitoring')

/** Said loudly where it is not installed. */
function isHere(program: string): boolean {
	const found = ['/usr/bin', '/usr/local/bin'].some((folder) => existsSync(join(folder, program)))
	if (!found) notProved(`monitoring/: there is no ${program} (Debian's package prometheus)`)
	return found
}

interface Dashboard {
	readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
}

function dashboardQueries(): readonly string[] {
	const { panels }: Dashboard = JSON.parse(readFileSync(join(monitoring, 'grafana.json'), 'utf8'))
	return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

test('default: the rules are right, and report what their tests say', async () => {
	if (!isHere('promtool')) return
	const checked = await run('promtool', ['check', 'rules', join(monitoring, 'alerts.yaml')])
	expect(checked.stdout).toContain('SUCCESS')
	const tested = await run('promtool', ['test', 'rules', join(monitoring, 'alerts.test.yaml')])
	expect(tested.stdout).toContain('SUCCESS')
	// Each has a case in which it fires.
	const names = (text: string, key: string) =>
		new Set([...text.matchAll(new RegExp(`${key}: (Tracewatch\\w+)`, 'g'))].map(([, name]) => name))
	const rules = names(readFileSync(join(monitoring, 'alerts.yaml'), 'utf8'), '- alert')
	const cases = names(readFileSync(join(monitoring, 'alerts.test.yaml'), 'utf8'), '- alertname')
	expect(cases).toEqual(rules)
})

/** Resolves when it answers; rejects with its last words when it ends before. */
async function startPrometheus(target: string): Promise<string> {
	const site = siteOf({
		'prometheus.yml': [
			'global: {scrape_interval: 1s, evaluation_interval: 1s}',
			`rule_files: [${JSON.stringify(join(monitoring, 'alerts.yaml'))}]`,
			`scrape_configs: [{job_name: tracewatch, static_configs: [{targets: ["${target}"]}]}]`,
			'',
		].join('\n'),
	})
	const url = `http://127.0.0.1:${await freePort()}`
	const output = join(site.folder, 'output')
	const file = openSync(output, 'w')
	const child: ChildProcess = spawn(
		'prometheus',
		[
			`--config.file=${join(site.folder, 'prometheus.yml')}`,
			`--storage.tsdb.path=${join(site.folder, 'data')}`,
			`--web.listen-address=${new URL(url).host}`,
		],
		{ stdio: ['ignore', file, file] },
	)
	closeSync(file)
	const ended = new Promise((resolve) => child.once('exit', resolve))
	onTestFinished(async () => {
		child.kill('SIGKILL')
		await ended
	})
	const isReady = async () => (await fetch(`${url}/-/ready`).catch(() => null))?.ok === true
	const lastWords = () => readFileSync(output, 'utf8').slice(-2_000)
	while (!(await isReady())) {
		if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}: ${lastWords()}`)
		await new Promise((resolve) => setTimeout(resolve, 50))
	}
	return url
}

/** The result of a query; null while Prometheus does not answer yet. */
async function ask(prometheus: string, expr: string): Promise<readonly unknown[] | null> {
	const url = `${prometheus}/api/v1/query?query=${encodeURIComponent(expr)}`
	const answer = await fetch(url).catch(() => null)
	if (answer === null || answer.status === 503) return null
	const found: ReturnType<typeof JSON.parse> = await answer.json()
	expect(found.status, `${expr}: ${found.error}`).toBe('success')
	return found.data.result
}

test('behavior: every query finds something in a real Prometheus that scrapes a running tracewatch', async () => {
	if (!isHere('prometheus')) return
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const hook = await hookServer()
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, 'http: 127.0.0.1:0\n'),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}}`]),
	})
	const running = site.start(['run'])
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	await polled(running)
	await node.send({ from: other, to: treasury, valueWei: 1n })
	await hook.until(1)
	const prometheus = await startPrometheus(`127.0.0.1:${String(port)}`)
	expect(dashboardQueries().length).toBeGreaterThan(15)
	const fill = (expr: string) => expr.replaceAll('$network', '.*').replaceAll('$receiver', '.*')
	for (const expr of dashboardQueries().map(fill)) {
		// A rate needs two scrapes.
		await expect.poll(async () => (await ask(prometheus, expr))?.length ?? 0, { message: expr }).toBeGreaterThan(0)
	}
	const rules = async () => {
		const told: ReturnType<typeof JSON.parse> = await (await fetch(`${prometheus}/api/v1/rules`)).json()
		return told.data.groups[0].rules as { name: string; health: string; state: string }[]
	}
	expect((await rules()).length).toBeGreaterThan(10)
	await expect.poll(async () => new Set((await rules()).map(({ health }) => health))).toEqual(new Set(['ok']))
	// None fires, and none is pending but for a scrape that came too late on a busy machine.
	const notInactive = async () => (await rules()).filter(({ state }) => state !== 'inactive').map(({ name }) => name)
	await expect.poll(notInactive).toEqual([])
	// What a rule compares is there to be compared, but for what counts from its first event on.
	const series = [...readFileSync(join(monitoring, 'alerts.yaml'), 'utf8').matchAll(/tracewatch_\w+/g)].map(
		([name]) => name,
	)
	for (const name of new Set(series)) {
		await expect.poll(async () => (await ask(prometheus, name))?.length ?? 0, { message: name }).toBeGreaterThan(0)
	}
	await running.stop()
})
