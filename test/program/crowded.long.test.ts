// A watched contract pays out more than a receiver takes, and what leaves a watch is never folded: its alerts wait for
// that receiver, and nothing else waits: neither the other receiver of the same network nor another network.
import { expect, onTestFinished, test } from 'vitest'
import { bystander, contract, startFloodNode } from '../support/floodNode.js'
import { freePort } from '../support/freePort.js'
import { startHookServer } from '../support/hookServer.js'
import { smallFigures } from '../support/preload.js'
import { openSite } from '../support/program.js'
import { told } from './site.js'

test('behavior: a flood that one receiver does not take silences no one else', async () => {
	const [cheap, dear] = [await startFloodNode(), await startFloodNode()]
	const [flooded, quiet] = [await startHookServer(), await startHookServer()]
	const port = await freePort()
	const here = openSite({
		'tracewatch.yaml':
			`networks:\n  - {name: cheap, chain_id: 1, rpc: ["${cheap.url}"], schedule: "* * * * * *", proof: off}\n` +
			`  - {name: dear, chain_id: 1, rpc: ["${dear.url}"], schedule: "* * * * * *"}\n` +
			`http: 127.0.0.1:${port}\nreceivers:\n` +
			`  - {name: flooded, type: webhook, url: "${flooded.origin}"}\n` +
			`  - {name: quiet, type: webhook, url: "${quiet.origin}"}\n`,
		'watchlists/cheap.yaml':
			`network: cheap\nwatches:\n  - {address: "${contract}", direction: out, receivers: [flooded]}\n` +
			`  - {address: "${bystander}", receivers: [quiet]}\n`,
		'watchlists/dear.yaml': `network: dear\nwatches:\n  - {address: "${bystander}", receivers: [flooded, quiet]}\n`,
	})
	onTestFinished(async () => {
		await here.close()
		await Promise.all([flooded.close(), quiet.close(), cheap.close(), dear.close()])
	})
	flooded.answer = () => 503
	cheap.head = 100
	dear.head = 100
	const running = here.start(['run'], smallFigures('MOST_PENDING=100'))
	for (const network of ['cheap', 'dear']) {
		await running.line((line) => line.msg === 'coverage changed' && line.network === network)
	}
	const heard = (network: string) =>
		told(quiet.hits).flatMap(({ data }) => (data.network === network ? [data.blockNumber] : []))
	const health = async () => {
		const answer = await fetch(`http://127.0.0.1:${port}/healthz`)
		return (await answer.json()) as { readonly status: string; readonly reasons?: readonly string[] }
	}

	// As much as one receiver may have waiting, and more: the other one hears of the blocks after it all the same.
	cheap.fill = (block) => (block === 101 ? { transactions: 1, calls: 150, hits: 150, wei: 1n } : null)
	cheap.head = 101
	await running.line(({ msg }) => msg === 'alert')
	cheap.head = 103
	await quiet.until(() => heard('cheap').length === 2)

	// So much that the network itself has to wait, and says so; the dear one goes on, by way of both.
	cheap.fill = (block) => (block === 104 ? { transactions: 1, calls: 250, hits: 250, wei: 1n } : null)
	cheap.head = 104
	await running.line((line) => line.msg.startsWith('polling waits: 400 deliveries') && line.network === 'cheap')
	cheap.head = 105
	dear.head = 102
	await quiet.until(() => heard('dear').length === 2)
	expect(heard('cheap')).toEqual([102, 103])
	await expect
		.poll(async () => (await health()).reasons, { interval: 250 })
		.toContainEqual(expect.stringContaining('cheap is not scanned: 400 deliveries wait'))

	// The receiver is back: all that waited is told, and the network goes on by itself.
	flooded.answer = () => 204
	await running.line((line) => line.msg === 'polling continues' && line.network === 'cheap')
	await quiet.until(() => heard('cheap').length === 3)
	await flooded.until((hits) => new Set(hits.map(({ id }) => id)).size === 402)
	await expect.poll(async () => (await health()).status, { interval: 250 }).toBe('ok')
	expect((await running.stop()).code).toBe(0)
	expect(heard('cheap')).toEqual([102, 103, 105])
	expect(heard('dear')).toEqual([101, 102])
})
