// A private network on a chain whose blocks have access lists, as an operator sees it.
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hookServer, inProcess, settings, siteOf, stranger, treasury, vault, watchlist } from './site.js'

async function openSite(dialect: Parameters<typeof startDialectGateway>[1]) {
	const node = await startTestAnvil()
	const asked: string[] = []
	const twist = (method: string, params: readonly unknown[]) =>
		void asked.push(`${method} ${JSON.stringify(params)}`.toLowerCase())
	const gateway = await startDialectGateway(node.url, { ...dialect, twist })
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const here = inProcess(
		siteOf({
			'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }, '    private: true\n'),
			'watchlists/a.yaml': watchlist([`{address: ${vault}}`, `{address: ${stranger}}`]),
		}),
	)
	const pay = async (to: typeof vault, valueWei: bigint) => {
		await node.receipt(await node.send({ from: treasury, to, valueWei }))
		expect((await here.run(['once'])).code).toBe(0)
	}
	await node.mine(1)
	expect((await here.run(['once'])).code).toBe(0)
	const text = async (command: string) => (await here.run([command])).stdout.replace(/\s+/g, ' ')
	return { node, here, pay, text, asked }
}

test('default: over restarts books are kept by lists, and status, check and doctor say so', async () => {
	const { node, here, pay, text, asked } = await openSite({ accessLists: true })
	await pay(vault, 1n)
	await node.mine(2)
	await pay(vault, 2n)
	const head = Number(await node.head())
	const { networks } = JSON.parse((await here.run(['status', '--json'])).stdout)
	expect(networks[0].books).toMatchObject({ closedTo: head, closed: 1, kept: 2, openCount: 0, reason: null })
	expect(networks[0].books.listed.to).toBe(head)
	const listed = `closed up to block ${head} for 1 of 2 watches, by the access lists of all blocks since`
	expect(await text('status')).toContain(listed)
	expect(await text('check')).toContain('keeps books where blocks name their access lists')
	expect(await text('doctor')).toContain('right by the hash in the header: books are kept by them')
	expect(asked.filter((one) => one.includes(vault.slice(2)) || one.includes(stranger.slice(2)))).toEqual([])
})

test('behavior: on a chain without lists it says that no books are kept, and why', async () => {
	const { pay, text } = await openSite({})
	await pay(vault, 1n)
	expect(await text('status')).toContain('not kept, since blocks of this chain name no access lists')
	const doctor = await text('doctor')
	expect(doctor).toContain('balances not asked: no books are kept by them')
	expect(doctor).toContain('access lists none on this chain: no books are kept by them')
})
