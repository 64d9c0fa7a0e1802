// Ten networks with four blocks a second each, 20 ms away, and one that is slow: how far behind the program is.
import { type FastChain, startFastChain } from '../test/support/fastChain.js'
import { configOf, quantileOf, sampleLags } from '../test/support/fastRide.js'
import { startHookServer } from '../test/support/hookServer.js'
import { openFolder } from './program.js'

export interface FastChains {
	readonly chains: number
	/** Of the network that is worst, in blocks. */
	readonly worstP95: number
	readonly worstMost: number
	/** Of one core; null where the system does not tell. */
	readonly cpuShare: number | null
}

const SLOW_MS = 2_000

export async function measureFastChains(count: number, samples: number): Promise<FastChains> {
	const chains = new Map<string, FastChain>()
	for (let at = 0; at <= count; at += 1) chains.set(`net${at}`, await startFastChain({ chainId: 9_001 + at }))
	const slow = chains.get(`net${count}`)
	if (slow !== undefined) slow.delayMs = SLOW_MS
	const hook = await startHookServer()
	const folder = openFolder(configOf(chains, hook, '127.0.0.1:0'))
	const program = folder.start('run')
	const { port } = await program.line('metrics and health are served')
	await new Promise((resolve) => setTimeout(resolve, 5_000))
	const before = { atMs: performance.now(), usedMs: program.usedMs() }
	const lags = await sampleLags(chains, `127.0.0.1:${String(port)}`, { samples, everyMs: 200 })
	const usedMs = program.usedMs()
	const share = usedMs === null || before.usedMs === null ? null : usedMs - before.usedMs
	const cpuShare = share === null ? null : share / (performance.now() - before.atMs)
	await program.stop()
	folder.close()
	await hook.close()
	for (const chain of chains.values()) await chain.close()
	const fast = [...lags].filter(([name]) => name !== `net${count}`).map(([, own]) => own)
	return {
		chains: count,
		worstP95: Math.max(...fast.map((own) => quantileOf(own, 0.95))),
		worstMost: Math.max(...fast.flat()),
		cpuShare,
	}
}
