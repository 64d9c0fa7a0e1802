// Ten networks with four blocks a second each, 20 ms away: none falls behind, and a slow one holds back no other.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type FastChain, startFastChain } from '../support/fastChain.js'
import { configOf, quantileOf, sampleLags } from '../support/fastRide.js'
import { hookServer, siteOf, told } from './site.js'

async function chainsOf(count: number): Promise<Map<string, FastChain>> {
	const chains = new Map<string, FastChain>()
	for (let at = 0; at < count; at += 1) chains.set(`net${at}`, await startFastChain({ chainId: 9_001 + at }))
	onTestFinished(async () => {
		for (const chain of chains.values()) await chain.close()
	})
	return chains
}

test('behavior: none is more than two blocks behind at the 95th percentile, whatever a slow one does', async () => {
	const chains = await chainsOf(11)
	const slow = chains.get('net10') as FastChain
	slow.delayMs = 2_000
	const hook = await hookServer()
	const here = siteOf(configOf(chains, hook, '127.0.0.1:0'))
	const running = here.start(['run'])
	const { port } = await running.line(({ msg }) => msg === 'metrics and health are served')
	const http = `127.0.0.1:${String(port)}`
	await running.line(({ msg }) => msg === 'tracewatch is running')
	// What each endpoint can do is asked first, and the slow one's first poll takes its time.
	await sleep(5_000)
	const lags = await sampleLags(chains, http, { samples: 100, everyMs: 200 })
	const from = new Map([...chains].map(([name, chain]) => [name, chain.head()]))
	await sleep(2_000)
	for (const [name, own] of lags) {
		if (name === 'net10') continue
		expect(own.length, name).toBe(100)
		expect(quantileOf(own, 0.95), name).toBeLessThanOrEqual(2)
	}
	// All of it was told: the last ten seconds of each chain that is near.
	await running.stop()
	const alerts = new Set(told(hook.hits).map(({ data }) => `${data.network} ${data.txHash}`))
	for (const [name, chain] of chains) {
		if (name === 'net10') continue
		const upTo = from.get(name) ?? 0
		for (const txHash of chain.payments(upTo - 40, upTo)) expect(alerts).toContain(`${name} ${txHash}`)
	}
})
