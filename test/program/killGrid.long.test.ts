// Killed at each of its steps on disk: the next start tells what is left, under the ids that the chain gives it, and
// nothing else. Kills beside other faults: scenarios.sized.test.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { startHookServer } from '../support/hookServer.js'
import { startMailServer } from '../support/mailServer.js'
import { preload } from '../support/preload.js'
import { openSite } from '../support/program.js'
import { treasury, vault, watchlist } from './site.js'

/** Fewer than it takes: each of those kills. */
const leastSteps = 32
/** Writes that arrive together are joined, so another start may take some more. */
const moreSteps = 2

/** Ids by the chain: `id` of each alert that is due. */
const due: string[] = []

const node = await startTestAnvil()
afterAll(() => node.stop())
const { transactionHash } = await node.receipt(await node.send({ from: treasury, to: vault, valueWei: 7n }))
due.push(`31337:${transactionHash}:root:transfer:${treasury}`)
// Init code of nothing: a contract without code.
const made = await node.receipt(await node.send({ from: treasury, data: '0x60006000f3' }))
due.push(`31337:${made.transactionHash}:root:deployment:${treasury}`)
await node.mine(2)

/** A fresh configuration with receivers of its own. */
async function open() {
	const hook = await startHookServer()
	const mail = await startMailServer()
	const site = openSite({
		'tracewatch.yaml': `networks:
  - {name: local, chain_id: 31337, rpc: ["${node.url}"], schedule: "* * * * * *"}
receivers:
  - {name: hook, type: webhook, url: "${hook.origin}"}
  - {name: mail, type: email, smtp: "smtp://${mail.host}", from: a@example.org, to: [b@example.org]}
`,
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, from_block: 1}`], 'hook, mail'),
	})
	const count = join(site.folder, 'count')
	const env = (step: number) => ({ ...preload('killAt'), KILL_AT: String(step), KILL_COUNT: count })
	const close = async () => {
		await site.close()
		await hook.close()
		await mail.close()
	}
	return { site, hook, mail, env, close, stepsDone: () => Number(readFileSync(count, 'utf8')) }
}

/** Starts it again until nothing is pending, and compares what came with what the chain says. */
async function expectAll({ site, hook, mail }: Awaited<ReturnType<typeof open>>) {
	// What was on its way when the program died is sent by the next start, or the one after.
	// It is this process that starts again: killed was the built program.
	for (let start = 0; start < 3 && (start === 0 || hook.hits.length < due.length); start++)
		expect(await typed(['once'], { cwd: site.folder })).toMatchObject({ code: 0 })
	const byHook = new Map(hook.hits.map(({ id, body }) => [id, JSON.parse(body.toString()).data.id as string]))
	const byMail = new Map(
		mail.mails.map(({ messageId, parsed }) => [messageId, parsed.headers.get('x-tracewatch-alert')]),
	)
	// The same alert twice has the same id of delivery: as many of those as alerts.
	expect([...byHook.values()].sort()).toEqual(due.toSorted())
	expect([...byMail.values()].sort()).toEqual(due.toSorted())
	const { receivers } = JSON.parse((await typed(['status', '--json'], { cwd: site.folder })).stdout)
	for (const row of receivers) expect(row).toMatchObject({ pending: 0, dead: 0 })
}

/** How many steps on disk a start takes that is not killed. */
async function counted(): Promise<number> {
	const own = await open()
	try {
		const { code, stderr } = await own.site.run(['once'], own.env(0))
		expect([code, stderr]).toEqual([0, ''])
		await expectAll(own)
		return own.stepsDone()
	} finally {
		await own.close()
	}
}

const steps = Array.from({ length: (await counted()) + moreSteps }, (_, at) => at + 1)

test.each(steps)('killed at step %i on disk: each alert comes, under one id', async (step) => {
	const own = await open()
	onTestFinished(own.close)
	const { code } = await own.site.run(['once'], own.env(step))
	if (step <= leastSteps) expect(code).toBe(null)
	await expectAll(own)
})
