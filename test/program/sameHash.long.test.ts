// One transaction hash in two blocks of the chain (Celo, Cronos): each payment has an alert and an id of its own.
import { expect, onTestFinished, test } from 'vitest'
import { startTestAnvil } from '../support/anvil.js'
import { askNode } from '../support/askNode.js'
import { typed } from '../support/commandLine.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { hookServer, inProcess, settings, siteOf, stranger, told, treasury, vault, watchlist } from './site.js'

const ids = (stdout: string) =>
	stdout
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line).data.id)
		.sort()

test.each(['first', 'later'])(
	'a hash in two blocks, of which the node gives the %s by hash, is two alerts',
	async (given) => {
		const node = await startTestAnvil()
		const renamed = new Map<string, string>()
		const ask = async (method: string, params: readonly unknown[]) =>
			(await askNode<{ result: unknown }>(node.url, { jsonrpc: '2.0', id: 1, method, params })).result
		const gateway = await startDialectGateway(node.url, {
			async twist(method, params, result) {
				let own = result
				for (const [later, first] of renamed)
					if (given === 'later' && params[0] === first) own = await ask(method, [later, ...params.slice(1)])
				let text = JSON.stringify(own)
				for (const [later, first] of renamed) text = text?.replaceAll(later, first)
				return text === undefined ? undefined : JSON.parse(text)
			},
		})
		onTestFinished(async () => {
			await gateway.close()
			await node.stop()
		})
		const hook = await hookServer()
		const here = siteOf({
			'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
			'watchlists/a.yaml': watchlist([
				`{address: ${vault}, kinds: [transfer, unexplained]}`,
				`{address: ${treasury}, kinds: [transfer, unexplained]}`,
			]),
		})
		const once = async () => expect(await inProcess(here).run(['once'])).toMatchObject({ code: 0 })
		await once()
		const pay = async (from = treasury) => node.receipt(await node.send({ from, to: vault, valueWei: 5n }))

		// In two polls, then in one part.
		const first = await pay()
		await once()
		const later = await pay()
		renamed.set(later.transactionHash, first.transactionHash)
		await once()
		const third = await pay(stranger)
		const fourth = await pay(stranger)
		renamed.set(fourth.transactionHash, third.transactionHash)
		await node.mine(2)
		await once()
		await once()

		const idOf = ({ transactionHash }: typeof first, place: string, address: string) =>
			`31337:${transactionHash}:${place}:transfer:${address}`
		const again = ({ blockNumber }: typeof first) => `root~${Number(blockNumber)}`
		const expected = [
			...[treasury, vault].flatMap((one) => [idOf(first, 'root', one), idOf(first, again(later), one)]),
			idOf(third, 'root', vault),
			idOf(third, again(fourth), vault),
		].sort()
		expect(
			told(hook.hits)
				.map(({ type, data }) => `${type} ${data.id}`)
				.sort(),
		).toEqual(expected.map((id) => `alert.transfer ${id}`))

		// Both payments are in the books.
		const { books } = JSON.parse((await typed(['status', '--json'], { cwd: here.folder })).stdout).networks[0]
		expect(books).toMatchObject({ reason: null, closedTo: Number(fourth.blockNumber) + 2, unprovedCount: 0 })

		// By hand: the whole range, and the later block alone.
		const replay = (from: string, to: string) => {
			const range = ['--from', `${Number(from)}`, '--to', `${Number(to)}`]
			return typed(['replay', '--network', 'local', ...range, '--format', 'json'], { cwd: here.folder })
		}
		expect(ids((await replay(first.blockNumber, fourth.blockNumber)).stdout)).toEqual(expected)
		expect(ids((await replay(later.blockNumber, later.blockNumber)).stdout)).toEqual(
			[treasury, vault].map((one) => idOf(first, again(later), one)).sort(),
		)
	},
)

test('a transaction that a reorganisation moves to another block keeps its id, and no alert is repeated', async () => {
	const node = await startTestAnvil()
	onTestFinished(() => node.stop())
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(node.url, { hook: hook.origin }, '    settle: 20\n'),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
	})
	await node.mine(2)
	const once = async () => expect(await inProcess(here).run(['once'])).toMatchObject({ code: 0 })
	await once()
	const snapshot = await node.rpc('evm_snapshot')
	const sent = { from: treasury, to: vault, valueWei: 5n }
	const raw = await node.rpc('eth_getRawTransactionByHash', [await node.send(sent)])
	await node.mine(3)
	await once()
	await node.rpc('evm_revert', [snapshot])
	await node.mine(2)
	await node.rpc('eth_sendRawTransaction', [raw])
	await node.mine(4)
	await once()
	await once()
	expect(told(hook.hits).map(({ type, data }) => `${type} ${data.id.split(':')[2]}`)).toEqual(['alert.transfer root'])
})
