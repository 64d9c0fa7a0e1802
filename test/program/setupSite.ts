/** A folder, a node and a receiver for `tracewatch setup`, and the ways to run it: at a terminal, or by a script. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { TestAnvil } from '../support/anvil.js'
import { startFaultProxy } from '../support/faultProxy.js'
import { cliPath } from '../support/program.js'
import { openTerminal } from '../support/terminal.js'
import { hookServer, inProcess, siteOf } from './site.js'

/** Keys that choose a receiver in the list: one `j` a line down. */
export const pick = { mail: '', webhook: 'j', telegram: 'jjjj', pagerduty: 'jjjjjj' } as const
/** Ctrl-U: what was typed goes. */
export const CLEAR = '\u0015'

export async function startSetup(node: TestAnvil) {
	const hook = await hookServer()
	const proxy = await startFaultProxy(node.url)
	onTestFinished(() => proxy.close())
	const rpc = `${proxy.url}/Canary-node-0123456789/evm`
	const here = inProcess(siteOf())
	const [out, tmp] = [join(here.folder, 'out'), join(here.folder, 'tmp')]
	mkdirSync(tmp)
	const command = [process.execPath, cliPath, 'setup', '--dir', 'out']
	const secrets = { ETHEREUM_RPC_URL: rpc, OPS_HOOK_URL: `${hook.origin}/Canary-hook-0123456789` }
	const read = (name: string) => readFileSync(join(out, name), 'utf8')
	const terminal = (...more: string[]) =>
		openTerminal([...command, ...more], { cwd: here.folder, env: { TMPDIR: tmp } })
	const script = (more: readonly string[], env = {}) => here.run(['setup', '--dir', 'out', ...more], env)
	return { hook, here, out, tmp, read, secrets, terminal, script }
}
