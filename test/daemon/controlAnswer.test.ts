import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { status } from '../../src/commands/status.js'
import { answerControl } from '../../src/daemon/controlAnswer.js'
import type { Store } from '../../src/model/ports.js'
import { serveControl } from '../../src/ops/controlSocket.js'
import { temporaryFolder } from '../support/folder.js'

test('default: `status` lists troubles, says a single one in a sentence, and names a failed poll at once', async () => {
	const dir = temporaryFolder()
	const state = join(dir, 'state')
	mkdirSync(state, { mode: 0o700 })
	const path = join(dir, 'tracewatch.yaml')
	writeFileSync(
		path,
		'networks: [{name: a, chain_id: 1, rpc: ["http://127.0.0.1:9"], schedule: "* * * * * *"}]\n' +
			'receivers: [{name: hook, type: webhook, url: "http://127.0.0.1:9"}]\nstate: state\n',
	)
	let reasons = ['the disk is full', 'hook takes nothing']
	let failing: readonly string[] = []
	let failures: readonly string[] = []
	const health = async () => {
		const reason = reasons.length === 0 ? null : reasons.join('; ')
		return { ok: reasons.length === 0, reason, reasons, failing, failures, networks: [] }
	}
	const close = await serveControl(
		state,
		answerControl({} as Store, health, (text) => text),
	)
	onTestFinished(close)
	const said = async () => {
		const lines: string[] = []
		const io = { out: (line: string) => void lines.push(line), env: {}, cwd: dir, scrubber: { add() {} } } as never
		await status.run({ values: { config: path }, positionals: [] } as never, io)
		return lines
	}
	expect((await said()).slice(0, 3)).toEqual(['NOT WELL:', '  - the disk is full', '  - hook takes nothing'])
	reasons = ['the disk is full']
	expect((await said())[0]).toBe('NOT WELL: the disk is full')
	reasons = []
	expect((await said())[0]).toBe('the daemon runs and is well')
	failing = ['a']
	failures = ['a: node.example answered 401']
	expect((await said())[0]).toBe('the daemon runs; polling fails: a: node.example answered 401')
})
