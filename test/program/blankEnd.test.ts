// A node that gives a self-destruct without heir and amount: without books, balances show what it moved.
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hookServer, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

const zero = `0x${'0'.repeat(40)}`

test('a self-destruct with heir and balance 0x0 that moved coins is reported, without books', async () => {
	const node = await startTestAnvil()
	const blank = (row: { type: string; action: object }) =>
		row.type === 'suicide' ? { ...row, action: { ...row.action, refundAddress: zero, balance: '0x0' } } : row
	const gateway = await startDialectGateway(node.url, {
		lacks: ['debug_traceBlockByNumber'],
		twist: (method, _params, result) =>
			method.startsWith('trace_') && Array.isArray(result) ? result.map((row) => blank(row)) : undefined,
	})
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	// Its code pays all it has to vault: PUSH20 vault, SELFDESTRUCT.
	const data = `0x7573${vault.slice(2)}ff6000526016600af3`
	const { contractAddress } = await node.receipt(await node.send({ from: treasury, valueWei: 9n, data }))
	if (contractAddress === null) throw new Error('no contract came to be')
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }, '    proof: off\n'),
		'watchlists/a.yaml': watchlist([`{address: "${contractAddress}", kinds: [transfer, unexplained]}`]),
	})
	const once = async () => expect(await here.run(['once'])).toMatchObject({ code: 0 })
	await once()
	await node.send({ from: treasury, to: contractAddress })
	await once()
	await once()
	expect(told(hook.hits).map(({ type, data: said }) => [type, said.differenceWei])).toEqual([
		['alert.unexplained', '-9'],
	])
})
