import { readFile } from 'node:fs/promises'
import { checksum } from 'ox/Address'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type PlayedStep, play } from '../../src/devnode/play.js'
import { cast, story } from '../../src/devnode/story.js'
import { PlainError } from '../../src/errors.js'
import type { Address } from '../../src/model/glossary.js'
import { startTestDevnode, type TestDevnode } from '../support/anvil.js'

let devnode: TestDevnode
let played: readonly PlayedStep[]
const seen: string[] = []
const { signal } = new AbortController()

beforeAll(async () => {
	devnode = await startTestDevnode()
	played = await play({ rpcUrl: devnode.url, signal, onStep: async ({ name }) => void seen.push(name) })
})
afterAll(() => devnode.stop())

describe('the story', () => {
	test('default: every step is played and reported once, in order', () => {
		expect(seen).toEqual(story.map(({ name }) => name))
		expect(played.map(({ txHashes }) => txHashes.length)).toEqual(story.map(({ transactions }) => transactions.length))
	})

	for (const name of ['treasury', 'payroll', 'factory', 'vault', 'pocket'] as const) {
		test(`behavior: the alerts of ${name} add up to the change of its balance, block by block`, async () => {
			const address = cast[name]
			for (const { alerts, txHashes, transactions } of played) {
				const receipts = await Promise.all(txHashes.map((hash) => devnode.receipt(hash)))
				const blocks = receipts.map((receipt) => BigInt(receipt.blockNumber))
				const [first = 0n, last = 0n] = [blocks[0], blocks.at(-1)]
				const fees = receipts
					.filter((receipt) => receipt.from === address)
					.map((receipt) => BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice))
				const change = (await devnode.balanceWei(address, last)) - (await devnode.balanceWei(address, first - 1n))
				const told = alerts
					.filter((alert) => alert.address === address)
					.map(({ direction, valueWei }) => (direction === 'in' ? valueWei : -valueWei))
				// Payroll's payment is below its smallest value.
				const untold = name === 'payroll' && transactions.some(({ to }) => to === address) ? [250n * 10n ** 15n] : []
				expect(sum(told) + sum(untold)).toBe(change + sum(fees))
			}
		})
	}

	test('behavior: the contracts stand where arithmetic says', async () => {
		const head = await devnode.head()
		for (const name of ['factory', 'router', 'splitter', 'vault', 'pocket'] as const) {
			expect((await devnode.code(cast[name], head)).length).toBeGreaterThan(100)
		}
	})

	test('behavior: every temptation is in the traces', async () => {
		const frames = async (name: string) => {
			const step = played.find((one) => one.name === name)
			return devnode.rpc<{ traceAddress: number[]; error?: string; action: Record<string, string> }[]>(
				'trace_transaction',
				[step?.txHashes[0]],
			)
		}
		const deep = (await frames('three calls deep')).at(-1)
		expect([deep?.traceAddress, deep?.action.to]).toEqual([[0, 0, 0], cast.treasury])
		expect((await frames('delegatecall'))[1]?.action).toMatchObject({
			callType: 'delegatecall',
			from: cast.factory,
			value: '0x58d15e176280000',
		})
		const [root, reverted, ghost] = await frames('caught revert')
		expect([root?.error, reverted?.error, ghost?.error]).toEqual([undefined, 'Reverted', undefined])
		expect(ghost?.action.to).toBe(cast.treasury)
		expect((await frames('whole revert')).map((frame) => frame.error)).toEqual(['Reverted', undefined])
	})

	test('behavior: watchlists/demo.yaml watches the same addresses for the same receivers', async () => {
		const yaml = parse(await readFile(new URL('../../watchlists/demo.yaml', import.meta.url), 'utf8'), {
			schema: 'failsafe',
		})
		const watched = new Map<string, string[]>(
			yaml.watches.map((watch: { address: Address; receivers?: string[] }) => [
				watch.address,
				watch.receivers ?? yaml.receivers,
			]),
		)
		const names = ['treasury', 'payroll', 'factory', 'vault', 'pocket'] as const
		expect([...watched.keys()]).toEqual(names.map((name) => checksum(cast[name])))
		for (const alert of story.flatMap(({ alerts }) => alerts)) {
			expect(alert.receivers).toEqual(watched.get(checksum(alert.address)))
		}
	})

	test('error: a chain that is not fresh', async () => {
		const again = play({ rpcUrl: devnode.url, signal, onStep: () => {} })
		await expect(again).rejects.toThrow(PlainError)
		await expect(again).rejects.toThrow('fresh chain')
	})

	test('error: what onStep throws ends the play', async () => {
		const other = await startTestDevnode()
		const onStep = () => {
			throw new Error('stop here')
		}
		await expect(play({ rpcUrl: other.url, signal, onStep })).rejects.toThrow('stop here')
		await other.stop()
	})
})

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n)
}
