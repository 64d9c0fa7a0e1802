// `npm run demo -- incidents`: known thefts in their shape. Which alert comes in which block, and how long before the
// coins leave?
import { fail, hex, openStage } from './stage.js'

const thief = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const at = (end) => `0x${end.padStart(40, 'ca5e')}`
const [safe, vault, proxy] = [at('a1'), at('a2'), at('a3')]
const [helper, singleton, thiefCode] = [at('b1'), at('b2'), at('b3')]
const word = (text) => text.replace('0x', '').padStart(64, '0')
/** The words of a code, one after the other. */
const code = (...parts) => `0x${parts.join('')}`
const pays = '60006000600060006706f05b59d3b20000'
/** Where OpenZeppelin 5 keeps the owner (ERC-7201), and proxies their implementation (ERC-1967). */
const ownerSlot = '9016d09d72d40fdae2fd8ceac6b6234c7706214fd39c1cd1e609a0528c199300'
const implementationSlot = '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const upgraded = 'bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'

const codes = {
	// Hands each call on to the code in slot 0, as Safe's proxy does; takes coins.
	[safe]: '0x3661000657005b366000600037600060003660006000545af46100225760006000fd5b00',
	// Makes its input the owner, asks nobody and logs nothing; an input of another length pays 0.5 ETH to the owner.
	[vault]: code(
		...['3661000657005b3660201461003c57337f', ownerSlot, '54146100635760006000fd5b6000357f', ownerSlot, '55005b'],
		...[pays, '335af100'],
	),
	// Makes an input of 32 bytes its implementation, and logs Upgraded; hands each other call on to it; takes coins.
	[proxy]: code(
		...['36602014610041573661000e57005b366000600037600060003660007f', implementationSlot, '545af4005b600035807f'],
		...[implementationSlot, '557f', upgraded, '60006000a200'],
	),
	// Writes the second word of its input into the slot that the first one names.
	[helper]: '0x6020356000355500',
	// Runs the code at the first 20 bytes of its input with what follows, by delegatecall.
	[singleton]: '0x6014360360146000376000600060143603600060003560601c5af46100245760006000fd5b00',
	// Pays 0.5 ETH to the address in the first word of its input.
	[thiefCode]: code(pays, '6000355af100'),
}

/** A call is its input and the alerts that it must cause. `blocks`: from the takeover to the theft. */
const incidents = [
	{
		title: 'The implementation of a Safe is replaced by a delegatecall that its owners signed (Bybit, February 2025)',
		wallet: safe,
		takeover: [`${helper}${word('0')}${word(thiefCode)}`, ['alert.code']],
		blocks: 18,
		theft: [`0x${word(thief)}`, ['alert.code', 'alert.transfer']],
	},
	{
		title: 'A setter that checks nothing and logs nothing makes a stranger the owner of a vault',
		wallet: vault,
		takeover: [`0x${word(thief)}`, ['alert.control']],
		blocks: 9,
		theft: ['0x01', ['alert.transfer']],
	},
	{
		title: 'A proxy is upgraded with the stolen key of its admin',
		wallet: proxy,
		takeover: [`0x${word(thiefCode)}`, ['alert.control']],
		blocks: 12,
		theft: [`0x${word(thief)}00`, ['alert.transfer']],
	},
]

export async function playIncidents() {
	const watches = Object.entries({ Safe: safe, Vault: vault, Proxy: proxy }).map(([label, address]) => ({
		address,
		label,
	}))
	// JSON is YAML.
	const watchlist = JSON.stringify({ network: 'local', receivers: ['ops-mail', 'ops-hook'], watches })
	const { rpc, send, until, settled, mails, hooks } = await openStage(watchlist, async (rpc) => {
		for (const [address, code] of Object.entries(codes)) await rpc('anvil_setCode', address, code)
		for (const { address } of watches) await rpc('anvil_setBalance', address, hex(10n ** 18n))
		await rpc('anvil_setStorageAt', safe, `0x${word('0')}`, `0x${word(singleton)}`)
		await rpc('anvil_mine', '0x2')
	})
	let expected = 0
	/** Sends the thief's call; resolves to its block once its alerts have come, by webhook and by mail. */
	const alertsOf = async (to, data, types) => {
		const { block } = await send({ from: thief, to, data })
		expected += types.length
		await until(`${types} of block ${block} came`, () => hooks.size >= expected && mails.size >= expected)
		const came = [...hooks.values()].filter(({ data }) => data.blockNumber === block)
		if (`${came.map(({ type }) => type).toSorted()}` !== `${types}`)
			fail(`Block ${block} should cause ${types}, but ${JSON.stringify([...hooks.values()].slice(-3), null, 2)} came`)
		const ids = came.map(({ data }) => data.id)
		for (const { subject, headers } of mails.values())
			if (ids.includes(headers.get('x-tracewatch-alert'))) console.log(`  block ${block}  ${subject}`)
		return block
	}
	for (const { title, wallet, takeover, blocks, theft } of incidents) {
		console.log(`\n${title}.`)
		const taken = await alertsOf(wallet, ...takeover)
		await rpc('anvil_mine', hex(blocks - 1))
		const gone = await alertsOf(wallet, ...theft)
		console.log(`  The first alert came before the theft began: ${gone - taken} blocks before the coins left.`)
	}
	await settled()
	if (hooks.size !== expected || mails.size !== expected)
		fail(`More came: ${JSON.stringify([...hooks.values()], null, 2)}`)
	console.log(`\nEach of ${incidents.length} takeovers was reported in its block, and nothing else came.`)
}
