import { expect, onTestFinished } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { startHeadServer } from '../support/headServer.js'
import { startHookServer } from '../support/hookServer.js'
import { testInFull, testOnce } from '../support/longRun.js'
import { openSite } from '../support/program.js'
import { settings, told, treasury, vault, watchlist } from './site.js'

/** A program that polls once an hour, and gets heads at these URLs. */
async function start(wsOf: (anvilUrl: string) => readonly string[]) {
	const node = await startTestAnvil()
	const hook = await startHookServer()
	const ws = wsOf(node.url.replace('http', 'ws'))
	const here = openSite({
		'tracewatch.yaml': settings(
			node.url,
			{ hook: hook.origin },
			`    ws: [${ws.map((url) => JSON.stringify(url)).join(', ')}]\n`,
		).replace('* * * * * *', '0 0 0 1 1 *'),
		'watchlists/a.yaml': watchlist([`{address: ${treasury}, direction: out}`]),
	})
	onTestFinished(async () => {
		await here.close()
		await hook.close()
		await node.stop()
	})
	const running = here.start(['run'], { LOG_LEVEL: 'debug' })
	await running.line(({ msg }) => msg === 'coverage changed')
	return { node, hook, here, running }
}

testOnce('default: with `ws` a payment is reported when its block comes, whatever the schedule', async () => {
	const { node, hook, running } = await start((url) => [url])
	await running.line(({ msg }) => msg === 'new heads are followed')
	for (const valueWei of [1n, 2n, 3n]) {
		await node.send({ from: treasury, to: vault, valueWei })
		await hook.until(Number(valueWei))
	}
	expect(told(hook.hits).map(({ data }) => data.valueWei)).toEqual(['1', '2', '3'])
	const { code } = await running.stop()
	expect(code).toBe(0)
})

testInFull(
	'behavior: where heads cannot be followed the program runs on, and neither key nor path is reported',
	async () => {
		const server = await startHeadServer()
		onTestFinished(() => server.close())
		server.refuse = (socket) => socket.end('HTTP/1.1 403 CANARYPATHq7Xz9K2vW\r\n\r\n')
		const { node, hook, running } = await start((url) => [
			`ws://CANARYUSERq7Xz9K2vW:CANARYPASSWORD@${server.host}/CANARYPATHq7Xz9K2vW`,
			url,
		])
		await running.line(({ msg }) => msg === 'new heads are followed')
		await node.send({ from: treasury, to: vault, valueWei: 1n })
		await hook.until(1)
		expect((await running.stop()).code).toBe(0)
		expect(running.output()).toContain(server.host)
		expect(running.output()).not.toMatch(/CANARY/)
	},
)
