/** The built program on some fast chains at once: how far each network is behind its chain, sampled as it runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type FastChain, payee } from './fastChain.js'
import type { HookServer } from './hookServer.js'

/** How many blocks each network was behind, sample by sample; by network. */
export type Lags = ReadonlyMap<string, readonly number[]>

/** `chains` by the name of their network. */
export function configOf(chains: ReadonlyMap<string, FastChain>, hook: Pick<HookServer, 'origin'>, http: string) {
	const network = ([name, { chainId, url, ws }]: [string, FastChain]) =>
		`  - {name: ${name}, chain_id: ${chainId}, rpc: ["${url}"], ws: "${ws}", schedule: "* * * * * *"}`
	const list = (name: string): [string, string] => [
		`watchlists/${name}.yaml`,
		`network: ${name}\nreceivers: [hook]\nwatches:\n  - {address: "${payee}", label: Safe}\n`,
	]
	const receiver = `  - {name: hook, type: webhook, url: "${hook.origin}"}`
	const yaml = `networks:\n${[...chains].map(network).join('\n')}\nreceivers:\n${receiver}\nhttp: ${http}\n`
	return Object.fromEntries([['tracewatch.yaml', yaml], ...[...chains.keys()].map(list)])
}

/** Compares checkpoints, as the metrics tell them, with the heads, so many times. */
export async function sampleLags(
	chains: ReadonlyMap<string, FastChain>,
	http: string,
	{ samples, everyMs }: { readonly samples: number; readonly everyMs: number },
): Promise<Lags> {
	const lags = new Map<string, number[]>([...chains.keys()].map((name) => [name, []]))
	for (let sample = 0; sample < samples; sample += 1) {
		const text = await (await fetch(`http://${http}/metrics`)).text()
		for (const [, name = '', block] of text.matchAll(/^tracewatch_checkpoint_block\{network="(\w+)"\} (\d+)/gm)) {
			const chain = chains.get(name)
			if (chain !== undefined) lags.get(name)?.push(chain.head() - Number(block))
		}
		await sleep(everyMs)
	}
	return lags
}

/** `part` from 0 to 1. */
export function quantileOf(values: readonly number[], part: number): number {
	const sorted = values.toSorted((a, b) => a - b)
	const value = sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]
	if (value === undefined) throw new RangeError('nothing was measured')
	return value
}
