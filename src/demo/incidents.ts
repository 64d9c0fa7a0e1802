/** Plays known thefts in their shape: which alert comes in which block, and how long before the coins leave. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256 } from 'ox/Hash'
import { signalWithin } from '../base/waits/deadline.js'
import { linkedAbort } from '../base/waits/linkedAbort.js'
import { loadConfig } from '../config/load.js'
import { createClosers } from '../daemon/closers.js'
import { runDaemon } from '../daemon/daemon.js'
import { assemble } from '../devnode/assembler.js'
import { startDevnode } from '../devnode/devnode.js'
import { receiptOf } from '../devnode/play.js'
import { connectUpstream } from '../devnode/upstream.js'
import { PlainError } from '../errors.js'
import type { Address, Hash, Hex } from '../model/glossary.js'
import { headline } from '../notify/text/sentence.js'
import { version } from '../version.js'
import type { DemoOptions } from './demo.js'
import { startReceivers } from './demoReceivers.js'

const at = (end: string): Address => `0x${end.padStart(40, 'ca5e')}`
const word = (text: string | number): string =>
	(typeof text === 'number' ? text.toString(16) : text.slice(2)).padStart(64, '0')

/** Hands every call on to the code in a slot, as proxies do; takes coins. */
const proxyOf = (slot: string): Hex =>
	assemble(`CALLDATASIZE @go JUMPI STOP
		go: CALLDATASIZE 0 0 CALLDATACOPY
		0 0 CALLDATASIZE 0 ${slot} SLOAD GAS DELEGATECALL @done JUMPI 0 0 REVERT
		done: STOP`)
/** Runs what the call names: 20 bytes of target, then its input. */
const executes = assemble(`
	20 CALLDATASIZE SUB 20 0 CALLDATACOPY
	0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL @done JUMPI 0 0 REVERT
	done: STOP`)
/** Hands every call on to the wallet that its first 20 bytes name. */
const passesOn = assemble(`
	20 CALLDATASIZE SUB 20 0 CALLDATACOPY
	0 0 20 CALLDATASIZE SUB 0 0 0 CALLDATALOAD 96 SHR GAS CALL @done JUMPI 0 0 REVERT
	done: STOP`)
/** Writes the second word of its input into the slot that the first one names. */
const writes = assemble('32 CALLDATALOAD 0 CALLDATALOAD SSTORE STOP')
/** Sends half a coin to the address in its first word. */
const pays = assemble('0 0 0 0 500000000000000000 0 CALLDATALOAD GAS CALL STOP')
/** An owner whose address stands in the slot of its mapping may have half a coin. */
const paysOwners = assemble(`
	CALLER 0 MSTORE 2 32 MSTORE 64 0 KECCAK256 SLOAD @pay JUMPI 0 0 REVERT
	pay: 0 0 0 0 500000000000000000 CALLER GAS CALL STOP`)

const [helper, module, singleton, thiefCode, ownersCode] = [at('b1'), at('b2'), at('b3'), at('b4'), at('b5')]
const wallets = { replaced: at('a1'), moduled: at('a2'), hidden: at('a3'), silent: at('a4'), upgraded: at('a5') }
const labels: Readonly<Record<keyof typeof wallets, string>> = {
	replaced: 'Exchange Safe',
	moduled: 'Safe with a module',
	hidden: 'Shared Safe',
	silent: 'Vault',
	upgraded: 'Proxy',
}
const thief: Address = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
const implementationSlot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
/** Where OpenZeppelin 5 keeps the owner (ERC-7201). */
const ownerOfVault = '0x9016d09d72d40fdae2fd8ceac6b6234c7706214fd39c1cd1e609a0528c199300'
const upgradedTopic = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'
const coins = `0x${(10n ** 18n).toString(16)}`

const codes: Readonly<Record<Address, Hex>> = {
	[helper]: writes,
	[module]: passesOn,
	[singleton]: executes,
	[thiefCode]: pays,
	[ownersCode]: paysOwners,
	[wallets.replaced]: proxyOf('0'),
	[wallets.moduled]: executes,
	[wallets.hidden]: assemble(`
		CALLDATASIZE @go JUMPI STOP
		go: CALLDATASIZE 1 EQ @owner JUMPI
		20 CALLDATASIZE SUB 20 0 CALLDATACOPY
		0 0 20 CALLDATASIZE SUB 0 0 CALLDATALOAD 96 SHR GAS DELEGATECALL STOP
		owner: 0 0 0 0 ${ownersCode} GAS DELEGATECALL @done JUMPI 0 0 REVERT
		done: STOP`),
	[wallets.silent]: assemble(`
		CALLDATASIZE @go JUMPI STOP
		go: CALLDATASIZE 32 EQ @set JUMPI
		CALLER ${ownerOfVault} SLOAD EQ @pay JUMPI 0 0 REVERT
		set: 0 CALLDATALOAD ${ownerOfVault} SSTORE STOP
		pay: 0 0 0 0 500000000000000000 CALLER GAS CALL STOP`),
	[wallets.upgraded]: assemble(`
		CALLDATASIZE 32 EQ @upgrade JUMPI
		CALLDATASIZE @go JUMPI STOP
		go: CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 ${implementationSlot} SLOAD GAS DELEGATECALL STOP
		upgrade: 0 CALLDATALOAD DUP1 ${implementationSlot} SSTORE ${upgradedTopic} 0 0 LOG2 STOP`),
}

interface Incident {
	readonly title: string
	/** The alert that must come in the block of the takeover. */
	readonly alert: 'alert.code' | 'alert.control'
	readonly wallet: Address
	readonly takeover: Call
	/** Blocks from the takeover to the theft. */
	readonly blocks: number
	readonly theft: Call
}

interface Call {
	readonly to: Address
	readonly data: Hex
}

const joined = (...parts: readonly string[]): Hex => `0x${parts.map((part) => part.replace(/^0x/, '')).join('')}`
const ownerSlot = keccak256(joined(word(thief), word(2)))

const incidents: readonly Incident[] = [
	{
		title: 'The implementation of a Safe is replaced by a delegatecall that its owners signed (Bybit, February 2025)',
		alert: 'alert.code',
		wallet: wallets.replaced,
		takeover: { to: wallets.replaced, data: joined(helper, word(0), word(thiefCode)) },
		blocks: 18,
		theft: { to: wallets.replaced, data: joined(word(thief)) },
	},
	{
		title: 'A module makes a Safe run foreign code, without a signature of that moment',
		alert: 'alert.code',
		wallet: wallets.moduled,
		takeover: { to: module, data: joined(wallets.moduled, helper, word(1), word(thief)) },
		blocks: 6,
		theft: { to: module, data: joined(wallets.moduled, thiefCode, word(thief)) },
	},
	{
		title: 'An owner that no list shows is written into storage, and pays itself later',
		alert: 'alert.code',
		wallet: wallets.hidden,
		takeover: { to: wallets.hidden, data: joined(helper, ownerSlot, word(1)) },
		blocks: 30,
		theft: { to: wallets.hidden, data: '0x01' },
	},
	{
		title: 'A setter that checks nothing and logs nothing makes a stranger the owner of a vault',
		alert: 'alert.control',
		wallet: wallets.silent,
		takeover: { to: wallets.silent, data: joined(word(thief)) },
		blocks: 9,
		theft: { to: wallets.silent, data: '0x01' },
	},
	{
		title: 'A proxy is upgraded with the stolen key of its admin',
		alert: 'alert.control',
		wallet: wallets.upgraded,
		takeover: { to: wallets.upgraded, data: joined(word(thiefCode)) },
		blocks: 12,
		theft: { to: wallets.upgraded, data: joined(word(thief), '00') },
	},
]

/** Time limit for the alerts of one transaction. */
const patienceMs = 60_000

/** @throws PlainError when an alert did not come in the block of its transaction. */
export async function runIncidents(
	{ say, log, scrubber }: Pick<DemoOptions, 'say' | 'log' | 'scrubber'>,
	signal: AbortSignal,
): Promise<void> {
	const stop = linkedAbort(signal)
	const closers = createClosers()
	let wake = () => {}
	try {
		const folder = await mkdtemp(join(tmpdir(), 'tracewatch-demo-'))
		closers.add(() => rm(folder, { recursive: true, force: true }))
		const devnode = await startDevnode({ signal })
		closers.add(() => devnode.stop())
		const node = connectUpstream(devnode.anvilUrl)
		closers.add(() => node.close())
		const receivers = await startReceivers(() => wake())
		closers.add(() => receivers.close())
		for (const [address, code] of Object.entries(codes)) await node.call('anvil_setCode', [address, code], signal)
		for (const wallet of Object.values(wallets)) await node.call('anvil_setBalance', [wallet, coins], signal)
		await node.call('anvil_setStorageAt', [wallets.replaced, joined(word(0)), joined(word(singleton))], signal)
		await node.call('anvil_mine', ['0x2'], signal)
		const config = await siteIn(folder, devnode.url, receivers.hookUrl)
		await new Promise<void>((resolve, reject) => {
			const own = { config, log, version, env: {}, scrubber, onHangup: () => () => {}, onReport: () => resolve() }
			const daemon = runDaemon(own, stop.signal)
			closers.add(() => daemon.catch(() => {}))
			daemon.then(resolve, reject)
		})

		const send = async ({ to, data }: Call) => {
			const request = { from: thief, to, data, gas: '0x2dc6c0' }
			const txHash = (await node.call('eth_sendTransaction', [request], signal)) as Hash
			const { status, blockNumber } = await receiptOf(txHash, node, signal)
			if (status !== '0x1') throw new PlainError(`The embedded node does not follow the demo: ${txHash} failed.`)
			return { txHash, block: Number(blockNumber) }
		}
		/** The first alert of a type about a transaction; it names the block of its receipt. */
		const alertOn = async ({ txHash, block }: { readonly txHash: Hash; readonly block: number }, type: string) => {
			const limit = signalWithin(patienceMs, signal)
			for (;;) {
				for (const { message } of receivers.hooks)
					if (
						message.type === type &&
						'txHash' in message.data &&
						message.data.txHash === txHash &&
						message.data.blockNumber === block
					)
						return { block, words: headline(message) }
				if (limit.aborted)
					throw new PlainError(`The demo went wrong: no ${type} came about ${txHash} in block ${block}.`)
				await new Promise<void>((resolve) => {
					wake = resolve
					limit.addEventListener('abort', () => resolve(), { once: true })
				})
			}
		}

		for (const { title, alert, takeover, blocks, theft } of incidents) {
			say(`\n${title}.`)
			const taken = await alertOn(await send(takeover), alert)
			say(`  block ${taken.block}  ${taken.words}`)
			await node.call('anvil_mine', [`0x${(blocks - 1).toString(16)}`], signal)
			const gone = await alertOn(await send(theft), 'alert.transfer')
			say(`  block ${gone.block}  ${gone.words}`)
			say(`  The alert was delivered before the theft began: ${gone.block - taken.block} blocks before the coins left.`)
		}
		say(`\nEach of ${incidents.length} takeovers was reported in its block.`)
	} finally {
		stop.abort()
		await closers.close()
	}
}

async function siteIn(folder: string, rpcUrl: string, hookUrl: string) {
	const names = Object.keys(wallets) as (keyof typeof wallets)[]
	const watches = names.map((name) => ({ address: wallets[name], label: labels[name] }))
	const watchlist = join(folder, 'watchlist.yaml')
	await writeFile(watchlist, JSON.stringify({ network: 'demo', receivers: ['demo-hook'], watches }))
	const settings = {
		networks: [{ name: 'demo', chain_id: '31337', rpc: [rpcUrl], schedule: '* * * * * *' }],
		receivers: [{ name: 'demo-hook', type: 'webhook', url: hookUrl }],
		watchlists: [watchlist],
		state: join(folder, 'state'),
	}
	// JSON is valid YAML.
	const path = join(folder, 'tracewatch.yaml')
	await writeFile(path, JSON.stringify(settings))
	return await loadConfig(path, { env: {} })
}
