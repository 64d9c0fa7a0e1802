// What `doctor` says of block access lists and balances, against a node that plays each case.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import { examineBlock } from '../../../src/commands/doctor/doctorBlock.js'
import type { Address } from '../../../src/model/glossary.js'
import { startTestAnvil, type TestAnvil } from '../../support/anvil.js'
import { type Dialect, startDialectGateway } from '../../support/dialectGateway.js'

let node: TestAnvil
beforeAll(async () => {
	node = await startTestAnvil(['--hardfork', 'prague'])
	const [from, to] = (await node.accounts()) as [Address, Address]
	await node.receipt(await node.send({ from, to, valueWei: 5n }))
})
afterAll(() => node.stop())

const leavesOut = (method: string, _params: readonly unknown[], result: unknown) =>
	method === 'eth_getBlockAccessList' ? (result as unknown[]).slice(1) : undefined

test.each([
	['none', {}],
	['checked', { accessLists: true }],
	['wrong', { accessLists: true, twist: leavesOut }],
	['not given', { accessLists: true, twist: (method) => (method === 'eth_getBlockAccessList' ? null : undefined) }],
	['not given', { accessLists: true, lacks: ['eth_getBlockAccessList'] }],
] as const satisfies readonly (readonly [string, Dialect])[])('access lists: %s', async (accessLists, dialect) => {
	const gateway = await startDialectGateway(node.url, dialect)
	const rpc = createRpc({ url: gateway.url, timeoutMs: 5_000 })
	onTestFinished(async () => {
		await rpc.close()
		await gateway.close()
	})
	const report = await examineBlock(
		rpc,
		await node.head(),
		{ keepsBooks: true, chainId: 31_337 },
		new AbortController().signal,
	)
	expect(report).toEqual({ balances: 'together', accessLists, takesAuthorisations: true, mayPayWithdrawals: true })
})
