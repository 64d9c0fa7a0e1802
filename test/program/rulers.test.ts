// The page of a watch says who rules it, as a daemon has read it from the node.
import { expect, onTestFinished, test } from 'vitest'
import { toChecksum } from '../../src/config/address.js'
import type { Address, Hex } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { ruledCode, safeStorage, slotOf, word, writing } from '../support/ruledContract.js'
import { other, settings, siteOf, stranger, watchlist } from './site.js'

const at = (name: string): Address => `0x${name.padStart(40, '0')}`
const [safe, proxy, admin, alice, bob] = [at('5afe'), at('aa'), at('ad'), at('a11ce'), at('b0b')]
const slots = {
	implementation: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc',
	admin: '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103',
} as const

test('a Safe, a proxy and an account without code', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	for (const one of [safe, proxy, admin]) await node.rpc('anvil_setCode', [one, ruledCode])
	const write = (to: Address, ...pairs: readonly (readonly [bigint | Hex, bigint | Hex])[]) =>
		node.send({ from: other, to, data: writing(...pairs), gas: 3_000_000n })
	await write(safe, ...safeStorage([alice, bob], { threshold: 2n, modules: [admin], singleton: proxy }))
	await write(proxy, [slots.implementation, word(bob)], [slots.admin, word(admin)])
	await write(admin, [slotOf('owner()'), word(alice)])
	const site = siteOf({
		'tracewatch.yaml': `${settings(node.url, { hook: 'http://127.0.0.1:9' })}http: 127.0.0.1:0\n`,
		'watchlists/a.yaml': watchlist([safe, proxy, stranger].map((address) => `{address: "${address}"}`)),
	})
	const { port } = await site.start(['run']).line(({ msg }) => msg === 'metrics and health are served')
	const rulersOf = async (address: Address) => {
		const url = `http://127.0.0.1:${String(port)}/watch?network=local&address=${address}&format=json`
		const { rulers }: ReturnType<typeof JSON.parse> = await (await fetch(url)).json()
		const rulings: readonly Record<string, unknown>[] = rulers?.rulings ?? []
		return rulings.map(({ change, contract, value, shownBy }) => [change, contract, value, shownBy])
	}
	const own = toChecksum(safe)
	await expect
		.poll(() => rulersOf(safe))
		.toEqual([
			['safe.singleton', own, toChecksum(proxy), 'slot'],
			['safe.owner', own, toChecksum(bob), 'list'],
			['safe.owner', own, toChecksum(alice), 'list'],
			['safe.threshold', own, '2', 'slot'],
			['safe.module', own, toChecksum(admin), 'list'],
			// Each function of this contract answers.
			['paused', own, '0', 'function'],
		])
	const ofProxy = await rulersOf(proxy)
	expect(ofProxy).toContainEqual(['implementation', toChecksum(proxy), toChecksum(bob), 'slot'])
	expect(ofProxy).toContainEqual(['owner', toChecksum(admin), toChecksum(alice), 'function'])
	expect(await rulersOf(stranger)).toEqual([])
})
