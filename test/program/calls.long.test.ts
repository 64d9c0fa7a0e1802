// Calls as a person has them: `check`, `run` to a webhook, `replay`, `explain`.

import { expect, onTestFinished, test } from 'vitest'
import { toChecksum } from '../../src/config/address.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { assemble } from '../support/assembler.js'
import { typed } from '../support/commandLine.js'
import { encodeActions, puppetCode } from '../support/puppet.js'
import { callOf } from '../support/tokenContracts.js'
import { booksOpened, hookServer, inProcess, other, settings, siteOf, stranger, told, watchlist } from './site.js'

const safe: Address = '0x00000000000000000000000000000000005afe00'
const singleton: Address = '0x0000000000000000000000000000000000051d61'
const helper: Address = '0x000000000000000000000000000000000be19e12'

test('a function named in a watchlist, from the watchlist to the webhook', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const forward = `CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${singleton} GAS DELEGATECALL STOP`
	await node.rpc('anvil_setCode', [safe, assemble(forward)])
	await node.rpc('anvil_setCode', [singleton, puppetCode])
	await node.rpc('anvil_setCode', [helper, assemble('STOP')])
	const hook = await hookServer()
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([
			`{address: "${safe}", label: Safe, calls: ["sweep(address to, uint256 amount)"], failed_calls: false}`,
		]),
	})
	const check = await typed(['check'], { cwd: site.folder })
	expect(check.code, check.stderr).toBe(0)
	expect(check.stdout).toMatch(/Safe .*, calls of sweep\(address,uint256\), /)

	const running = site.start(['run'])
	await booksOpened(running)
	const from = await node.head()
	await node.send({ from: other, to: safe, data: callOf('sweep(address,uint256)', stranger, 7n), gas: 500_000n })
	await hook.until(1)
	const [first] = told(hook.hits)
	expect(first?.type).toBe('alert.call')
	expect(first?.data).toMatchObject({
		kind: 'call',
		signature: 'sweep(address,uint256)',
		arguments: [
			{ name: 'to', type: 'address', value: toChecksum(stranger) },
			{ name: 'amount', type: 'uint256', value: '7' },
		],
		callType: 'call',
		from: toChecksum(other),
	})
	await running.stop('SIGTERM')

	const range = ['--network', 'local', '--from', String(from + 1n), '--to', 'latest']
	const replay = await typed(['replay', ...range], { cwd: site.folder })
	expect(replay.stdout.trim().split('\n').slice(1)).toEqual([expect.stringMatching(/ call +in +0 +ETH /)])
	const sent = await typed(['deliveries', '--sent', '--json'], { cwd: site.folder })
	expect(sent.stdout).toContain(String(first?.data.id))

	// Explained: what the contract ran in its own storage, and who chose it.
	const data = encodeActions([{ do: 'delegatecall', to: helper, data: '0xaabbccdd' }])
	const { stdout } = await inProcess(site).run([
		'explain',
		await node.send({ from: other, to: safe, data, gas: 500_000n }),
	])
	const ran = (code: Address) => `Safe (a.yaml) ran the code of ${toChecksum(code)} in its own storage;`
	expect(stdout).toContain(`${ran(singleton)} it handed on the whole call, as a proxy does`)
	expect(stdout).toContain(`${ran(helper)} the caller chose this code`)
})
