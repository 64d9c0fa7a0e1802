// `tracewatch control`: who rules a contract now, read by the built program at one block.
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
		'tracewatch.yaml': settings(node.url, { hook: 'http://127.0.0.1:9' }),
		'watchlists/a.yaml': watchlist([`{address: "${safe}", label: Safe}`]),
	})

	const { code, stdout, stderr } = await site.run(['control', safe, '--json'])
	expect(code, stderr).toBe(0)
	const found = JSON.parse(stdout) as { readonly rulings: readonly Record<string, unknown>[] }
	expect(found).toMatchObject({ network: 'local', address: toChecksum(safe), isSafe: true })
	expect(found).toMatchObject({ reports: [{ watchlist: 'a.yaml', label: 'Safe' }] })
	expect(found.rulings.map(({ change, value, shownBy }) => [change, value, shownBy])).toEqual([
		['safe.singleton', toChecksum(proxy), 'slot'],
		['safe.owner', toChecksum(bob), 'list'],
		['safe.owner', toChecksum(alice), 'list'],
		['safe.threshold', '2', 'slot'],
		['safe.module', toChecksum(admin), 'list'],
		// Each function of this contract answers.
		['paused', '0', 'function'],
	])

	const table = await site.run(['control', proxy])
	expect(table.code, table.stderr).toBe(0)
	expect(table.stdout).toMatch(
		new RegExp(`implementation +${toChecksum(bob)} +slot 0x36089.* +by reading, and by events`),
	)
	expect(table.stdout).toMatch(new RegExp(`owner \\(at ${toChecksum(admin)}\\) +${toChecksum(alice)} `))
	expect(table.stdout).toContain('No watch reports it')

	expect((await site.run(['control', stranger])).stdout).toContain('no code')
	expect((await site.run(['control', '0x12'])).code).toBe(2)
})
