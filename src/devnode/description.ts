/** Tells the user how to use an embedded node. */
import type { Devnode } from './devnode.js'
import { connectUpstream } from './upstream.js'

const shownAccounts = 3
/** The default endpoint of `devnode pay`. */
export const usual = 'http://127.0.0.1:8545/dev/evm'

/** Lines to print: endpoint, chain id, some accounts, and YAML for its network. */
export async function describeDevnode({ url, anvilUrl }: Devnode, signal: AbortSignal): Promise<readonly string[]> {
	const node = connectUpstream(anvilUrl)
	try {
		const chainId = Number(await node.call('eth_chainId', [], signal))
		const accounts = (await node.call('eth_accounts', [], signal)) as readonly string[]
		const lines = [`Endpoint  ${url}`, `Chain id  ${chainId}`, '', 'Accounts with coins, unlocked:']
		for (const account of accounts.slice(0, shownAccounts)) {
			const wei = BigInt((await node.call('eth_getBalance', [account, 'latest'], signal)) as string)
			lines.push(`  ${account}  ${wei / 10n ** 18n} ETH`)
		}
		return [
			...lines,
			'',
			'For your tracewatch.yaml:',
			'',
			'networks:',
			'  - name: local',
			`    chain_id: ${chainId}`,
			'    rpc:',
			`      - ${url}`,
			'    schedule: "*/2 * * * * *"',
			'    stall_after: never             # blocks come only with payments',
			'',
			`To pay: tracewatch devnode pay ADDRESS 0.5${url === usual ? '' : ` --rpc ${url}`}`,
			'',
			'The chain ends with this program: a new one needs a new `state` folder. Ctrl-C ends it.',
		]
	} finally {
		await node.close()
	}
}
