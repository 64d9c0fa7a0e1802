/** What a user needs to know of an embedded node to use it. */
import type { Devnode } from './devnode.js'
import { connectUpstream } from './upstream.js'

const shownAccounts = 3

/** Lines to print: endpoint, chain id, some accounts, and the YAML of its network. */
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
			'',
			'Ctrl-C ends it.',
		]
	} finally {
		await node.close()
	}
}
