// Kills at random moments with books on, on a node that fails one request in ten and hides payments inside of
// transactions: every payment that it tells reaches the webhook, and of what it hides exactly that is told, once.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { AlertData } from '../../src/model/alert.js'
import type { Hash } from '../../src/model/glossary.js'
import { startServer } from '../state/postgres/server.js'
import { ether, startTestAnvil } from '../support/anvil.js'
import { createChance } from '../support/chance.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import * as faults from '../support/faults.js'
import { hideLeaves } from '../support/hiding.js'
import { createAddress, encodeActions, puppetInit } from '../support/puppet.js'
import { soaked } from '../support/soak.js'
import { byChance, startStrained } from '../support/strained.js'
import { hookServer, inProcess, other, settings, siteOf, told, treasury, watchlist } from './site.js'

const server = await startServer()
afterAll(() => server?.stop())

const paymentsPerKill = 10

/** In the long run each way of books once, and each place of the state. */
const ways = [
	...[{ title: 'by balances, of a node that fails one request in ten', kills: soaked(3, 40) }],
	...soaked([], [{ title: 'on a private network, by access lists, of such a node', kills: 12, isPrivate: true }]),
	...soaked([], [{ title: 'by balances, in a database', kills: 20, database: 'plain' }]),
	...[{ title: 'the same with the state in a database', kills: soaked(3, 20), isPrivate: true, database: 'private' }],
]
	.map((way) => ({ isPrivate: false, database: null, ...way }))
	.filter(({ database }) => server !== null || database === null)

test.each(ways)(
	'behavior: a hidden payment is reported with its amount, once, after $kills kills: $title',
	{
		timeout: 900_000,
	},
	async ({ kills, isPrivate, database }) => {
		const node = await startTestAnvil()
		const payer = createAddress(other, 0n)
		await node.send({ from: other, data: puppetInit, valueWei: 10n * ether, gas: 1_000_000n })
		let isHiding = false
		const { dialect, hidden } = hideLeaves((txHash) => isHiding && BigInt(txHash) % 5n === 0n)
		const gateway = await startDialectGateway(node.url, { ...dialect, accessLists: isPrivate })
		const way = await startStrained(gateway.url, null)
		const hook = await hookServer()
		const url = database === null ? null : await server?.fresh(database)
		const env: Record<string, string> = url == null ? {} : { DATABASE_URL: url }
		const state = url == null ? '' : 'state: ${DATABASE_URL}\n'
		// No one waits until the lease of one that was killed has run out.
		const freed = async () => {
			if (database !== null) await server?.sql(`update tracewatch.head set expires = '-infinity'`, [], database)
		}
		const site = siteOf({
			'tracewatch.yaml': settings(way.url, { hook: hook.origin }, isPrivate ? '    private: true\n' : '') + state,
			'watchlists/a.yaml': watchlist([`{address: "${treasury}"}`]),
		})
		onTestFinished(async () => {
			await way.close()
			await gateway.close()
			await node.stop()
		})
		// The book is open from here on: of a private network with the first block whose list names the watch.
		for (let poll = 0; poll < 2; poll++) {
			expect((await inProcess(site).run(['once'], env)).code).toBe(0)
			await node.mine(1)
		}
		const opening = await node.send({ from: other, to: treasury, valueWei: 1n })
		expect((await inProcess(site).run(['once'], env)).code).toBe(0)
		isHiding = true
		way.next = byChance(10, faults.status(502, 'bad gateway'), 5)

		const paid = new Map<Hash, bigint>([[opening, 1n]])
		/** A block each, as many between two kills on every machine. */
		const pay = async () => {
			for (const last = paid.size + paymentsPerKill; paid.size < last; await sleep(150)) {
				const wei = BigInt(paid.size)
				const data = encodeActions([{ do: 'call', to: treasury, valueWei: wei }])
				paid.set(await node.send({ from: other, to: payer, data, gas: 200_000n }), wei)
			}
		}
		const chance = createChance(9)
		for (let kill = 1; kill <= kills; kill++) {
			const paying = pay()
			paying.catch(() => undefined)
			const running = site.start(['run'], env)
			if (kill % 2 === 0) await running.line(({ msg }) => msg === 'tracewatch is running')
			await sleep(chance.number(1_500))
			running.process.kill('SIGKILL')
			await running.ended
			await freed()
			await paying
		}
		await node.mine(1)
		const head = Number(await node.head())

		const running = site.start(['run'], env)
		const alerts = (type: string) =>
			told(hook.hits).flatMap((one) => (one.type === type ? [one.data as unknown as AlertData] : []))
		// Each payment has a block of its own.
		const dueOf = () => hidden().map(({ block, to, wei }) => `${to} ${block} ${wei}`)
		const unexplained = () =>
			alerts('alert.unexplained').map(
				({ watch, toBlock, differenceWei }) => `${watch.address.toLowerCase()} ${toBlock} ${differenceWei}`,
			)
		const closedTo = async () => {
			const { stdout } = await inProcess(site).run(['status', '--json'], env)
			const [network] = (JSON.parse(stdout) as { networks: { books: { closedTo: number } | null }[] }).networks
			return network?.books?.closedTo ?? 0
		}
		// Books are closed with new blocks.
		while ((await closedTo()) < head) {
			await node.mine(1)
			await sleep(1_000)
		}
		const transfers = () => new Set(alerts('alert.transfer').map(({ txHash }) => txHash))
		const isAll = () => transfers().size + new Set(unexplained()).size >= paid.size
		await Promise.race([hook.until(isAll), running.ended, sleep(300_000, undefined, { ref: false })])
		expect(await running.stop()).toMatchObject({ code: 0 })

		const due = dueOf()
		expect(due.length).toBeGreaterThan(5)
		expect([...new Set(unexplained())].sort()).toEqual([...due].sort())
		// A kill may repeat a message, under the same id.
		const ids = (type: string) => new Set(hook.hits.flatMap(({ id, body }) => (body.includes(`"${type}"`) ? [id] : [])))
		expect(ids('alert.unexplained').size).toBe(due.length)
		expect(ids('alert.removed').size).toBe(0)
		const hiddenIn = new Set(hidden().map(({ txHash }) => txHash))
		const shown: readonly string[] = [...paid.keys()].filter((txHash) => !hiddenIn.has(txHash))
		expect([...transfers()].sort()).toEqual([...shown].sort())
	},
)
