// Some chains take a fee in a token and log it even where the transaction failed: Tempo, zkSync Era.
import { expect, onTestFinished, test } from 'vitest'
import { createTokenReader } from '../../../../src/chain/logs/tokenReader.js'
import { createRpc } from '../../../../src/chain/rpc/rpc.js'
import { readBlock } from '../../../../src/chain/wire/wire.js'
import type { Address } from '../../../../src/model/glossary.js'
import { startTestAnvil } from '../../../support/anvil.js'
import { startDialectGateway } from '../../../support/dialectGateway.js'
import { never } from '../../../support/pool.js'
import { silent } from '../../../support/silent.js'
import { standingClock } from '../../../support/standingClock.js'
import { callOf, erc20 } from '../../../support/tokenContracts.js'

test('behavior: the logs of a transaction that failed are read like others', async () => {
	const node = await startTestAnvil()
	const [from, alice] = (await node.accounts()) as [Address, Address]
	const { contractAddress: token } = await node.receipt(await node.send({ from, data: erc20('USD', 6) }))
	const data = callOf('mint(address,uint256)', alice, 7n)
	const { blockNumber } = await node.receipt(await node.send({ from, to: token as Address, data }))
	const fail = (receipt: object) => ({ ...receipt, status: '0x0' })
	const gateway = await startDialectGateway(node.url, {
		twist(method, _params, result) {
			if (method === 'eth_getBlockReceipts') return (result as object[]).map(fail)
			return method === 'eth_getTransactionReceipt' ? fail(result as object) : undefined
		},
	})
	const rpc = createRpc({ url: gateway.url })
	onTestFinished(async () => {
		await rpc.close()
		await gateway.close()
		await node.stop()
	})
	const raw = await node.rpc<object>('eth_getBlockByNumber', [blockNumber, false])
	const header = readBlock({ ...raw, receiptsRoot: null }, { endpoint: 'here', method: 'eth_getBlockByNumber' })
	if (header === null) throw new Error('there is no such block')
	const options = { chainId: 4_217, known: new Map(), isPrivate: false, clock: standingClock, log: silent }
	const question = { addresses: new Set([alice]), contracts: new Set<Address>(), headers: [header] }
	const span = { from: header.number, to: header.number }
	const { tokens } = await createTokenReader(options).read(rpc, { span, ...question }, never)
	expect(tokens).toMatchObject([{ to: alice, amountRaw: 7n }])
})
