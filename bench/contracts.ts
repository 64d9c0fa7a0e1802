// What watched contracts cost: a poll of a block that enters none of them, and of one that enters all.

import type { Address } from '../src/model/glossary.js'
import { startTestAnvil } from '../test/support/anvil.js'
import { assemble } from '../test/support/assembler.js'
import { cost, quantile } from './measure.js'
import { openPoller } from './ours.js'
import { startProxy } from './proxy.js'
import { watchedUpTo } from './seed.js'

export interface ContractsCost {
	readonly contracts: number
	/** Polls until each had its first look. */
	readonly pollsToOpen: number
	/** Of one poll of one new block and the audit after it; the middle of all. */
	readonly untouched: PollOfContracts
	/** The same where the block enters every contract. */
	readonly touched: PollOfContracts
}

interface PollOfContracts {
	readonly calls: number
	readonly bytes: number
	readonly ms: number
	readonly cpuMs: number
}

const polls = 5
/** Answers `owner()` only; takes every other call. */
const owned = assemble(`
	0 CALLDATALOAD 224 SHR 0x8da5cb5b EQ @owner JUMPI STOP
	owner: 7 0 MSTORE 32 0 RETURN`)
/** Calls each address in its input, without data. */
const callsAll = assemble(`
	0
	next: DUP1 CALLDATASIZE GT ISZERO @end JUMPI
	      0 0 0 0 0 DUP6 CALLDATALOAD GAS CALL POP
	      32 ADD @next JUMP
	end:  STOP`)
const caller: Address = '0x00000000000000000000000000000000ca11a110'
const perTransaction = 1_000

export async function measureContracts(contracts: number): Promise<ContractsCost> {
	const anvil = await startTestAnvil(['--gas-limit', '2000000000'])
	try {
		const [sender = '0x'] = await anvil.accounts()
		const addresses = watchedUpTo(contracts)
		await anvil.rpc('anvil_setCode', [caller, callsAll])
		for (let at = 0; at < contracts; at += 200)
			await Promise.all(addresses.slice(at, at + 200).map((one) => anvil.rpc('anvil_setCode', [one, owned])))
		await anvil.automine(false)
		await anvil.mine(3)
		const proxy = await startProxy(anvil.url)
		const poller = await openPoller(proxy.url, addresses, { kinds: ['control', 'code'] })
		let pollsToOpen = 0
		while ((await poller.contractsOpened()) < contracts) {
			await anvil.mine(1)
			await poller.poll()
			await poller.audited()
			pollsToOpen++
		}
		const pollOf = async (touches: boolean) => {
			const seen: PollOfContracts[] = []
			for (let poll = 0; poll < polls; poll++) {
				for (let at = 0; touches && at < contracts; at += perTransaction) {
					const words = addresses.slice(at, at + perTransaction).map((one) => one.slice(2).padStart(64, '0'))
					await anvil.send({ from: sender, to: caller, data: `0x${words.join('')}`, gas: 12_000_000n })
				}
				await anvil.mine(1)
				proxy.take()
				const { wallMs, cpuMs } = await cost(async () => {
					await poller.poll()
					await poller.audited()
				})
				const exchanges = proxy.take()
				seen.push({
					calls: exchanges.reduce((sum, { methods }) => sum + methods.length, 0),
					bytes: exchanges.reduce((sum, { request, answer }) => sum + request.length + answer.length, 0),
					ms: wallMs,
					cpuMs,
				})
			}
			const middle = (of: keyof PollOfContracts) =>
				quantile(
					seen.map((one) => one[of]),
					0.5,
				)
			return { calls: middle('calls'), bytes: middle('bytes'), ms: middle('ms'), cpuMs: middle('cpuMs') }
		}
		const untouched = await pollOf(false)
		const touched = await pollOf(true)
		await poller.close()
		await proxy.close()
		return { contracts, pollsToOpen, untouched, touched }
	} finally {
		await anvil.stop()
	}
}
