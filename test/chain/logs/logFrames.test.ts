// In which frame a log was written: contracts that log before, between and after their calls, on a real node.

import { expect, onTestFinished, test } from 'vitest'
import { readLogFrames } from '../../../src/chain/logs/logFrames.js'
import { readLogReceipt } from '../../../src/chain/logs/proofs/wireLogs.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import type { Address, Hex } from '../../../src/model/glossary.js'
import { startTestAnvil } from '../../support/anvil.js'
import { assemble, initOf } from '../../support/assembler.js'
import { startDialectGateway } from '../../support/dialectGateway.js'
import { standingClock } from '../../support/standingClock.js'

const signal = new AbortController().signal
const log = (word: number) => `${word} 0 0 LOG1`
const call = (to: string) => `0 0 0 0 0 ${to} GAS CALL POP`

test('default: the path of each log, failed calls and precompiled contracts left out', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const [from] = (await node.accounts()) as [Address]
	const deploy = async (code: string): Promise<Address> => {
		const data: Hex = initOf(assemble(code))
		return (await node.receipt(await node.send({ from, data, gas: 3_000_000n }))).contractAddress as Address
	}
	const leaf = await deploy(`${log(1)} STOP`)
	const failing = await deploy(`${log(2)} ${call(leaf)} 0 0 REVERT`)
	const middle = await deploy(`${call(leaf)} ${log(3)} ${call(leaf)} STOP`)
	const top = await deploy(
		`${log(4)} ${call('4')} ${call(failing)} ${log(5)} ${call(middle)} ${call(leaf)} ${log(6)} STOP`,
	)
	const txHash = await node.send({ from, to: top, gas: 3_000_000n })
	const raw = await node.receipt(txHash)
	const receipt = await readLogReceipt(raw, { endpoint: 'here', method: 'eth_getTransactionReceipt' })
	const logs = receipt?.logs ?? []
	expect(logs.map(({ topics: [word] }) => Number(word))).toEqual([4, 5, 1, 3, 1, 1, 6])
	const frames = async (url: string, own = logs) => {
		const rpc = createRpc({ url, clock: standingClock })
		onTestFinished(() => rpc.close())
		return readLogFrames(rpc, txHash, own, signal)
	}
	// The call to the identity contract has no number; the one that failed is 0.
	expect(await frames(node.url)).toEqual([[], [], [1, 0], [1], [1, 1], [2], []])
	// Other logs than the receipt has are not placed anywhere, nor where the node has no tracer.
	expect(await frames(node.url, logs.slice(1))).toBeNull()
	expect(await frames(node.url, [...logs].reverse())).toBeNull()
	const gateway = await startDialectGateway(node.url, { lacks: ['debug_traceTransaction'] })
	onTestFinished(() => gateway.close())
	expect(await frames(gateway.url)).toBeNull()
})
