import { expect, onTestFinished, test } from 'vitest'
import { readHead } from '../../../src/chain/heads/heads.js'
import { createRpc } from '../../../src/chain/rpc/rpc.js'
import * as faults from '../../support/faults.js'
import { startFaultyNode } from '../../support/faultyNode.js'
import { headerAt, never } from '../../support/pool.js'

const lists = { areCoins: true, rootsFit: false, mayBePaid: false }

test('behavior: a batch without an answer about a tag still has a head, of which the tag is unknown', async () => {
	const node = await startFaultyNode()
	const rpc = createRpc({ url: node.url, wait: async () => {} })
	onTestFinished(async () => {
		await rpc.close()
		await node.close()
	})
	node.results.set('eth_getBlockByNumber', ([tag]) => headerAt(tag === 'latest' ? 90 : 40))
	node.fail((ask, response, good) => {
		const given = ask.calls.flatMap(({ params }, at) => (params[0] === 'safe' ? [] : [[good].flat()[at]]))
		faults.body(ask.batch ? given : (given[0] ?? {}))(ask, response, good)
	})
	const head = await readHead(rpc, lists, never)
	expect([head.latest.number, head.safe, head.finalized]).toEqual([90n, null, 40n])
})
