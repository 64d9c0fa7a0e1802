import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { settings, siteOf, stranger, treasury, vault, watchlist } from './site.js'

/** The script of CONTRIBUTING.md. */
async function startRecordedNode(...args: readonly string[]) {
	const child = spawn(process.execPath, ['scripts/recorded-node.js', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
	onTestFinished(() => void child.kill())
	const [line] = await once(child.stdout, 'data')
	return { url: String(line).trim(), stop: () => child.kill() }
}

test('behavior: `replay` and `explain` say the same of recorded answers when the node is gone', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const txHash = await node.send({ from: treasury, to: vault, valueWei: 7n })
	const site = siteOf({
		'tracewatch.yaml': settings('${NODE}', { hook: 'http://127.0.0.1:9' }),
		'watchlists/a.yaml': watchlist([`{address: ${vault}}`]),
	})
	const file = join(site.folder, 'answers.jsonl')
	const runWith = async (rpc: string) => {
		const replayed = await site.run(['replay', '--from', '1', '--to', 'latest'], { NODE: rpc })
		const explained = await site.run(['explain', txHash], { NODE: rpc })
		expect([replayed.code, explained.code], replayed.stderr + explained.stderr).toEqual([0, 0])
		return [replayed.stdout, explained.stdout]
	}

	const recording = await startRecordedNode(file, node.url)
	const before = await runWith(recording.url)
	recording.stop()
	expect(before[0]?.split('\n').filter((line) => line.includes(txHash))).toHaveLength(1)
	expect(readFileSync(file, 'utf8')).not.toContain(new URL(node.url).host)
	await node.send({ from: stranger, to: vault, valueWei: 8n })
	await node.stop()
	const recorded = await startRecordedNode(file)
	expect(await runWith(recorded.url)).toEqual(before)
})
