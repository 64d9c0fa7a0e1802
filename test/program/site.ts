// The smallest real configuration: one network, one webhook, one watch; and what a test opens, closed when it is over.
import { expect, onTestFinished } from 'vitest'
import type { Address } from '../../src/model/glossary.js'
import { startTestAnvil } from '../support/anvil.js'
import { typed } from '../support/commandLine.js'
import { startDialectGateway } from '../support/dialectGateway.js'
import { failingBlocks } from '../support/failingBlock.js'
import { type HookServer, startHookServer } from '../support/hookServer.js'
import { chainId, type OddChain, startOddChain, token, watched } from '../support/oddChain.js'
import { smallFigures, soonLeftOut } from '../support/preload.js'
import { openSite, type Running, type Site } from '../support/program.js'

export const treasury: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
export const vault: Address = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
export const stranger: Address = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
export const other: Address = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'

export function settings(rpc: string | readonly string[], hooks: Readonly<Record<string, string>>, more = ''): string {
	const urls = typeof rpc === 'string' ? [rpc] : rpc
	const receivers = Object.entries(hooks).map(
		([name, url]) => `  - name: ${name}\n    type: webhook\n    url: ${url}\n`,
	)
	return `networks:
  - name: local
    chain_id: 31337
    rpc: [${urls.map((url) => JSON.stringify(url)).join(', ')}]
    schedule: "* * * * * *"
${more}receivers:
${receivers.join('')}`
}

export function watchlist(watches: readonly string[], receivers = 'hook'): string {
	return `network: local\nreceivers: [${receivers}]\nwatches:\n${watches.map((watch) => `  - ${watch}\n`).join('')}`
}

/** Bodies of the webhook's hits. */
export function told(hits: readonly { readonly body: Buffer }[]) {
	return hits.map(({ body }) => JSON.parse(body.toString('utf8')))
}

/** Of this test only. */
export async function hookServer(): Promise<HookServer> {
	const hook = await startHookServer()
	onTestFinished(() => hook.close())
	return hook
}

/** Of this test only. */
export function siteOf(files: Readonly<Record<string, string>> = {}): Site {
	const site = openSite(files)
	onTestFinished(() => site.close())
	return site
}

/** Commands run to their end do so in this process: a start costs little. Their log is not in the output. */
export function inProcess(site: Site): Site {
	const text = (written: readonly string[]) => written.map((line) => `${line}\n`).join('')
	return {
		...site,
		async run(args, env = {}) {
			const { code, out, err } = await typed(args, { cwd: site.folder, env })
			return { code, stdout: text(out), stderr: text(err) }
		},
	}
}

/** Resolves when the daemon has taken in its watches, for the first time. */
export const polled = (running: Running) => running.line(({ msg }) => msg === 'coverage changed')

/**
 * Resolves when it has opened books, too. While Anvil mines a block it gives the balances after that block for the ones
 * after the newest: what a test sends before may be in a new book already, and is then not found by it.
 */
export const booksOpened = (running: Running) => running.line(({ msg }) => msg === 'books of new watches opened')

/** A daemon that has polled, with a receiver `hook`. */
export async function startWatching(rpc: string, files: Readonly<Record<string, string>>) {
	const hook = await hookServer()
	const here = siteOf({ 'tracewatch.yaml': settings(rpc, { hook: hook.origin }), ...files })
	const running = here.start(['run'])
	await booksOpened(running)
	return { hook, here, running }
}

/** Transfers of `vault` are watched through a gateway that gives all blocks but the failing ones; three are scanned. */
export async function siteWithFailing({ hangs = false, lacks = [] as readonly string[] } = {}) {
	const node = await startTestAnvil()
	const failing = failingBlocks()
	failing.hangs = hangs
	const gateway = await startDialectGateway(node.url, { twist: failing.twist, lacks })
	onTestFinished(async () => {
		await gateway.close()
		await node.stop()
	})
	const hook = await hookServer()
	const here = siteOf({
		'tracewatch.yaml': settings(gateway.url, { hook: hook.origin }),
		'watchlists/a.yaml': watchlist([`{address: ${vault}, kinds: [transfer]}`]),
	})
	await node.mine(3)
	expect((await here.run(['once'])).code).toBe(0)
	const pay = async (valueWei: bigint) => node.receipt(await node.send({ from: treasury, to: vault, valueWei }))
	/** A block that was mined cannot be read from now on. */
	const hide = ({ blockNumber, transactionHash }: Awaited<ReturnType<typeof pay>>) => {
		failing.numbers.add(BigInt(blockNumber))
		failing.hashes.add(transactionHash)
	}
	return { node, failing, hook, here, pay, hide }
}

const small = smallFigures(soonLeftOut)

/** A daemon that has polled an odd chain of at least three blocks. */
export async function startOddSite({
	kinds = 'transfer',
	network = '',
	watch = '',
	prepare = (_: OddChain): void => undefined,
} = {}) {
	const chain = await startOddChain()
	onTestFinished(() => chain.close())
	for (let block = 0; block < 3; block++) chain.mine()
	prepare(chain)
	const hook = await hookServer()
	const site = siteOf({
		'tracewatch.yaml': `networks:
  - name: local
    chain_id: ${chainId}
    rpc: ["${chain.url}"]
    schedule: "* * * * * *"
    tokens: [{symbol: USD, address: "${token}", decimals: 0}]
    ${network}
receivers:
  - {name: hook, type: webhook, url: "${hook.origin}"}
`,
		'watchlists/a.yaml': watchlist([`{address: "${watched}", kinds: [${kinds}]${watch}}`]),
	})
	const running = site.start(['run'], small)
	await polled(running)
	const alerts = () =>
		new Set(told(hook.hits).flatMap(({ data }) => (data?.kind ? [`${data.kind} ${data.txHash}`] : [])))
	/** Resolves with all alerts once these are among them. */
	const tells = async (...wanted: readonly string[]) => {
		await hook.until(() => wanted.every((one) => alerts().has(one)))
		return alerts()
	}
	return { chain, hook, site, running, tells }
}
