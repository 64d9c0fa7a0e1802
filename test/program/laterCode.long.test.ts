// Watches that get code after the start, by the built program: each is read for `control`, from its deployment on.
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { initOf } from '../support/assembler.js'
import { createAddress } from '../support/puppet.js'
import { scribeCode, scribing } from '../support/scribe.js'
import { startWatching, told, treasury, vault, watchlist } from './site.js'

const implementation: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const target: Address = `0x${'c0de01'.padStart(40, '0')}`
const [a, b, c] = ['a', 'b', 'c'].map((digit): Address => `0x${digit.repeat(40)}`) as [Address, Address, Address]
/** Keys of `treasury` and `vault`, of Anvil's usual mnemonic. */
const sponsor = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const owner = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')

test('behavior: watches are deployed and delegated after the start: events and storage are reported', async () => {
	const node = await startTestAnvil(['--hardfork', 'prague'])
	onTestFinished(() => node.stop())
	await node.rpc('anvil_setCode', [target, scribeCode])
	await node.mine(1)
	const made = createAddress(treasury, 0n)
	const watches = [made, vault].map((address) => `{address: "${address}", kinds: [control]}`)
	const { hook } = await startWatching(node.url, { 'watchlists/a.yaml': watchlist(watches) })
	const write = (to: Address, value: Address, isLogged: boolean) => {
		const event = isLogged ? { event: 'Upgraded(address)', topics: [value] } : null
		return node.send({ from: treasury, to, data: scribing([[implementation, value]], event), gas: 300_000n })
	}
	// Mined at once, a block each: the next poll finds the deployment and what came after it.
	await node.send({ from: treasury, data: initOf(scribeCode), gas: 3_000_000n })
	const authorization = await owner.signAuthorization({ contractAddress: target, chainId: 31337, nonce: 0 })
	const fees = { gas: 500_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n }
	const tx = { type: 'eip7702', chainId: 31337, nonce: 1, to: target, ...fees } as const
	const raw = await sponsor.signTransaction({ ...tx, authorizationList: [authorization] })
	await node.rpc('eth_sendRawTransaction', [raw])
	for (const value of [a, b]) for (const to of [made, vault]) await write(to, value, true)

	const reported = () =>
		told(hook.hits).flatMap(({ type, data }) =>
			data?.kind === 'control'
				? [`${type} ${data.watch.address} ${data.change} ${data.current} ${data.evidence}`.toLowerCase()]
				: [],
		)
	const all = (value: Address, evidence: string) =>
		[made, vault].map((one) => `alert.control ${one} implementation ${value} ${evidence}`)
	const logged = [...all(a, 'event'), ...all(b, 'event')]
	await hook.until(() => logged.every((one) => reported().includes(one)))
	for (const to of [made, vault]) await write(to, c, false)
	const expected = [...logged, ...all(c, 'storage')]
	await hook.until(() => expected.every((one) => reported().includes(one)))
	expect(new Set(reported())).toEqual(new Set(expected))
}, 60_000)
