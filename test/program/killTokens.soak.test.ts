// Kills at random moments while tokens move: every transfer reaches the webhook, none is invented, repeats bear the
// same id. What is due is read from the node's receipts.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { toChecksum } from '../../src/config/address.js'
import type { Address, Hash } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { createChance } from '../support/chance.js'
import { callOf, erc20, erc1155, signatures } from '../support/tokenContracts.js'
import { hookServer, other, settings, siteOf, told, treasury, watchlist } from './site.js'

const kills = 60

interface RawReceipt {
	readonly transactionHash: Hash
	readonly logs: readonly { readonly topics: readonly string[] }[]
}

test(`behavior: after ${kills} kills every token transfer was reported, and nothing else`, {
	timeout: 600_000,
}, async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const deploy = async (data: string) => (await node.receipt(await node.send({ from: other, data }))).contractAddress
	const [usd, items] = [(await deploy(erc20('FAKE', 6))) as Address, (await deploy(erc1155())) as Address]
	const first = (await node.head()) + 1n
	const hook = await hookServer()
	const named = `    tokens:
      - {symbol: USDC, address: "${toChecksum(usd)}", decimals: 6}
      - {symbol: ITEM, address: "${toChecksum(items)}"}
`
	const site = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, named),
		'watchlists/a.yaml': watchlist([`{address: "${treasury}", kinds: [token], from_block: ${first}}`]),
	})
	const zero: Address = `0x${'0'.repeat(40)}`
	let quiet = false
	const moving = (async () => {
		for (let n = 1n; !quiet; n++) {
			const usdCall = callOf('mint(address,uint256)', treasury, n)
			const signature = 'moveTwo(address,address,uint256,uint256,uint256,uint256)'
			const itemCall = callOf(signature, zero, treasury, 1n, n, 2n, n)
			await node.send({ from: other, ...(n % 3n === 0n ? { to: items, data: itemCall } : { to: usd, data: usdCall }) })
			await sleep(60)
		}
	})()
	moving.catch(() => undefined)
	const chance = createChance(7)
	for (let kill = 1; kill <= kills; kill++) {
		const running = site.start(['run'])
		if (kill % 2 === 0) await running.line(({ msg }) => msg === 'tracewatch is running')
		await sleep(chance.number(900))
		running.process.kill('SIGKILL')
		await running.ended
	}
	quiet = true
	await moving
	await node.mine(1)

	const due = new Set<string>()
	for (let block = first; block <= (await node.head()); block++) {
		const receipts = await node.rpc<RawReceipt[]>('eth_getBlockReceipts', [`0x${block.toString(16)}`])
		for (const { transactionHash, logs } of receipts) {
			for (const [at, { topics }] of logs.entries()) {
				const places = topics[0] === signatures.batch ? [`log_${at}_0`, `log_${at}_1`] : [`log_${at}`]
				for (const place of places) due.add(`31337:${transactionHash}:${place}:token:${treasury}`)
			}
		}
	}
	expect(due.size).toBeGreaterThan(5)
	const running = site.start(['run'])
	const heard = () => new Set(told(hook.hits).map(({ data }) => data.id as string))
	const isAll = () => heard().size >= due.size
	await Promise.race([hook.until(isAll), running.ended, sleep(300_000, undefined, { ref: false })])
	expect(await running.stop()).toMatchObject({ code: 0 })
	expect([...heard()].sort()).toEqual([...due].sort())
	expect(new Set(hook.hits.map(({ id }) => id)).size).toBe(due.size)
})
