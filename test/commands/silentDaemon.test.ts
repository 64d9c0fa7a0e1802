import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { controlPath, serveControl } from '../../src/ops/controlSocket.js'
import { blockOf, commitOf, gapOf } from '../state/samples.js'
import { typed } from '../support/commandLine.js'
import { openFileStore } from '../support/fileStore.js'
import { temporaryFolder, writeFiles } from '../support/folder.js'
import { standingClock } from '../support/standingClock.js'

// The daemon that runs does not say how it is: what the state says is wanted all the more.
test.each([
	['cuts the connection', cutting, /did not answer/],
	['answers with an error', refusing, /the disk is full/],
])('error: status and gaps, where the daemon %s, are printed from the state', async (_, serve, words) => {
	const folder = temporaryFolder()
	writeFiles(folder, {
		'tracewatch.yaml':
			'networks: [{name: ethereum, chain_id: 1, rpc: [https://rpc.example.org/]}]\n' +
			'receivers: [{name: hook, type: webhook, url: "https://hook.example.org/"}]\n',
	})
	const state = join(folder, 'state')
	const store = await openFileStore(state, { clock: standingClock })
	const gap = gapOf(95)
	await store.commit(commitOf({ checkpoint: blockOf(100), gaps: new Map([[gap.block.number, gap]]) }))
	await store.close()
	await serve(state)

	const status = await typed(['status'], { cwd: folder })
	expect(status.code).toBe(1)
	expect(status.out[0]).toMatch(/^NOT WELL: /)
	expect(status.out[0]).toMatch(words)
	expect(status.out.join('\n')).toContain('ethereum: scanned to block 100')
	const { daemon } = JSON.parse((await typed(['status', '--json'], { cwd: folder })).out.join('\n'))
	expect(daemon).toMatchObject({ running: true, ok: false })

	const gaps = await typed(['gaps'], { cwd: folder })
	expect(gaps).toMatchObject({ code: 0, out: [expect.stringMatching(/^ethereum 95 {2}open/), expect.anything()] })
	expect(gaps.err.join('\n')).toMatch(words)
})

async function cutting(folder: string): Promise<void> {
	const server = createServer((socket) => {
		socket.once('data', () => socket.destroy())
	})
	server.listen(controlPath(folder))
	await once(server, 'listening')
	onTestFinished(() => void server.close())
}

async function refusing(folder: string): Promise<void> {
	const close = await serveControl(folder, async () => {
		throw new Error('the disk is full')
	})
	onTestFinished(close)
}
