// A node behind TLS and a password, as nearly all of them are.
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../notify/email/certificate.js'
import { startTestAnvil } from '../support/anvil.js'
import { hookServer, settings, siteOf, told, treasury, vault, watchlist } from './site.js'

test('behavior: a node behind TLS is asked over few connections, with its login, and its events are sent', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const pair = makeCertificate('localhost')
	const logins = new Set<string | undefined>()
	let [connections, requests] = [0, 0]
	const proxy = createServer(pair, (asked, answer) => {
		requests++
		logins.add(asked.headers.authorization)
		const { authorization: _, ...headers } = asked.headers
		const onward = request(node.url, { method: 'POST', headers }, (given) => {
			answer.writeHead(given.statusCode ?? 502, given.headers)
			given.pipe(answer)
		})
		asked.pipe(onward.on('error', () => answer.destroy()))
	})
	proxy.on('secureConnection', () => connections++)
	await once(proxy.listen(0, 'localhost'), 'listening')
	onTestFinished(() => void proxy.close())
	const { port } = proxy.address() as AddressInfo

	const hook = await hookServer()
	const from = (await node.head()) + 1n
	await node.receipt(await node.send({ from: treasury, to: vault, valueWei: 5n }))
	const site = siteOf({
		'tracewatch.yaml': settings(`https://user:pa%20ss@localhost:${port}`, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, from_block: ${from}}`]),
		'ca.pem': pair.cert,
	})
	const trusted = { NODE_EXTRA_CA_CERTS: join(site.folder, 'ca.pem') }
	expect(await site.run(['once'], trusted)).toMatchObject({ code: 0 })
	expect(told(hook.hits)).toMatchObject([{ type: 'alert.transfer', data: { valueWei: '5' } }])
	expect([...logins]).toEqual([`Basic ${Buffer.from('user:pa ss').toString('base64')}`])
	expect(requests).toBeGreaterThan(5)
	expect(connections).toBeLessThan(requests)

	const untrusted = await site.run(['once'])
	expect(untrusted.code).toBe(75)
	expect(untrusted.stdout + untrusted.stderr).toContain('its certificate is self-signed')
})
