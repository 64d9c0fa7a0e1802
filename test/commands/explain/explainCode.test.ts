// By which rule the code that a watch ran is quiet or reported: from what the daemon remembers, and from the chain.

import { expect, onTestFinished, test } from 'vitest'
import { codeKnowledge } from '../../../src/commands/explain/explainCode.js'
import type { NetworkSettings } from '../../../src/config/settings/settings.js'
import { explain } from '../../../src/core/alerts/explainFrames.js'
import { openChain } from '../../../src/daemon/openNetwork.js'
import type { Address, Hash, Hex } from '../../../src/model/glossary.js'
import type { Kind } from '../../../src/model/kind.js'
import { peek } from '../../../src/state/open.js'
import { testNetwork, watchOf } from '../../scan/bench.js'
import { openCodeBench } from '../../scan/code/codeBench.js'
import { assemble } from '../../support/assembler.js'
import { openFileStore } from '../../support/fileStore.js'
import { temporaryFolder } from '../../support/folder.js'
import { mapped, ruledCode, word, writing } from '../../support/ruledContract.js'
import { createSafe, deploySafes, execute, multiSend, safeAt } from '../../support/safe.js'
import { silent } from '../../support/silent.js'
import { standingClock } from '../../support/standingClock.js'

const at = (name: string): Address => `0x${name.padStart(40, 'c0de')}`
const [proxy, chooses, hidden] = [at('a1'), at('a2'), at('a3')]
const [helper, other, account] = [at('b1'), at('b2'), at('b3')]
const implementationSlot: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const forwards = (code: string) =>
	assemble(`CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${code} GAS DELEGATECALL STOP`)

const settings: NetworkSettings = {
	...testNetwork,
	...{ rpc: [], ws: [], requestsPerSecond: 1_000 },
	...{ isPrivate: false, keepsBooks: false, keepsListedBooks: false, source: 'auto' },
	...{ schedule: '* * * * * *', stallAfterMs: null },
}

test('default: each rule, before and after code was learnt, with and without the state of a daemon', async () => {
	const folder = temporaryFolder()
	let safe: Address = at('00')
	const kinds: readonly Kind[] = ['code', 'control']
	const stage = await openCodeBench({
		async prepare(node, sender) {
			for (const one of [helper, other]) await node.rpc('anvil_setCode', [one, ruledCode])
			await node.rpc('anvil_setCode', [account, `0xef0100${other.slice(2)}`])
			await node.rpc('anvil_setCode', [proxy, forwards(`${implementationSlot} SLOAD`)])
			await node.rpc('anvil_setCode', [chooses, assemble('0 0 0 0 1000 SLOAD GAS DELEGATECALL STOP')])
			await node.rpc('anvil_setCode', [hidden, forwards('1000 SLOAD')])
			await node.rpc('anvil_setStorageAt', [proxy, implementationSlot, word(helper)])
			await deploySafes(node, sender, ['singleton', 'multiSend'])
			safe = await createSafe(node, sender, [sender])
			return [proxy, chooses, hidden, safe]
		},
		part: { kinds },
		options: { openStore: (clock) => openFileStore(folder, { clock }) },
	})
	const { node, send, sender } = stage
	const sets = async (contract: Address, code: Address) => {
		await node.mine()
		await node.rpc('anvil_setStorageAt', [contract, word(1000n), word(code)])
	}
	const sent: Hash[] = []
	const run = async (to: Address, data: Hex = '0x12345678') => void sent.push(await send(to, data))
	await run(proxy, writing([1n, 1n]))
	for (const one of [helper, account]) {
		await sets(chooses, one)
		for (let times = 0; times < 2; times++) await run(chooses)
	}
	for (const one of [helper, other]) {
		await sets(hidden, one)
		for (let times = 0; times < 2; times++) await run(hidden)
	}
	await run(safe, execute(sender, { to: safeAt.multiSend, data: multiSend([{ to: other }]), isDelegated: true }))
	await run(safe, execute(sender, { to: helper, data: writing([mapped(other, 2n), 1n]), isDelegated: true }))
	// An upgrade: the alert on it names the code that runs next.
	await run(proxy, writing([implementationSlot, other]))
	await run(proxy, writing([1n, 2n]))
	const reported = (await stage.told()).filter(({ kind }) => kind === 'code').map(({ txHash }) => txHash)

	const watches = new Map(stage.watched.map((address) => [address, [watchOf(address, { kinds })]]))
	const network = { ...settings, rpc: [node.url] }
	const { chain, accounts, codes, contracts } = openChain(network, { clock: standingClock, log: silent })
	onTestFinished(() => chain.close())
	const signal = new AbortController().signal
	const head = async () => (await chain.head(signal)).latest
	const rulesOf = async (txHash: Hash, dir: string) => {
		const found = await chain.transaction(txHash, signal)
		if (found === null) throw new Error(`${txHash} is in no block`)
		const remembered = async () => (await peek({ kind: 'folder', dir }))?.whole.networks.get('local')
		const asked = { ...found, head, watches, remembered }
		const knowledge = await codeKnowledge(asked, { codes, contracts, accounts, chain }, signal)
		const context = { network, watches, checksum: (address: Address) => address, ...(knowledge && { code: knowledge }) }
		const lines = explain(found.trace, context).flatMap(({ verdicts, isSent }) =>
			verdicts.flatMap((line) => {
				const [, rule] = / ran the code of .*; .* \((.*)\)$/.exec(line) ?? []
				return rule === undefined ? [] : [`${isSent ? '* ' : ''}${rule}`]
			}),
		)
		return lines.join(' / ')
	}
	const place = 'quiet: it stands in a known place of the contract'
	const again = 'quiet: it ran before, and was reported or was the first'
	const lasting = 'reported each time: it can change, or is gone'
	const expected = [
		place,
		...['* other code, reported once', `other code, ${again}`, `* other code, ${lasting}`, `* other code, ${lasting}`],
		...[
			'code of a proxy, quiet: the first such code',
			`code of a proxy, ${again}`,
			'* code of a proxy, reported once',
			`code of a proxy, ${again}`,
		],
		`${place} / known library MultiSend 1.5.0, quiet`,
		`${place} / * chosen by the caller, reported each time`,
		...[place, place],
	]
	const told = await Promise.all(sent.map((txHash) => rulesOf(txHash, folder)))
	expect(told).toEqual(expected)
	// What is marked as reported was reported.
	expect(sent.filter((_, index) => told[index]?.includes('* ')).sort()).toEqual([...reported].sort())

	// Without the state of a daemon: places are read, and all code is new.
	const empty = temporaryFolder()
	expect(await rulesOf(sent[0] as Hash, empty)).toBe(place)
	expect(await rulesOf(sent[2] as Hash, empty)).toBe('* other code, reported once')
	expect(await rulesOf(sent[9] as Hash, empty)).toBe(expected[9])
})
