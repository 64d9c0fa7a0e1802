/** Plays the story on a fresh embedded node. */
import { setTimeout as sleep } from 'node:timers/promises'
import { PlainError } from '../errors.js'
import type { Hash } from '../model/glossary.js'
import { cast, type Step, type StoryTx, story } from './story.js'
import { connectUpstream, type Upstream } from './upstream.js'

export interface PlayedStep extends Step {
	/** In the order of the step's transactions. */
	readonly txHashes: readonly Hash[]
}

export interface PlayOptions {
	/** The endpoint with its key, or Anvil itself. Its accounts must be unlocked, and the chain fresh. */
	readonly rpcUrl: string
	/** Called when all transactions of a step are mined. The next step waits for the returned promise. */
	readonly onStep: (step: PlayedStep) => void | Promise<void>
	readonly signal: AbortSignal
}

/** More than any step needs. Set explicitly, so that Anvil does not refuse transactions that are meant to fail. */
const gasLimit = 3_000_000n
const pollMs = 25

/**
 * Sends each transaction and waits for its block.
 * @throws PlainError when the chain is not fresh, or a transaction does not end as the story says.
 */
export async function play({ rpcUrl, onStep, signal }: PlayOptions): Promise<readonly PlayedStep[]> {
	const node = connectUpstream(rpcUrl)
	try {
		const nonce = await node.call('eth_getTransactionCount', [cast.deployer, 'latest'], signal)
		if (nonce !== '0x0')
			throw new PlainError('The demo needs a fresh chain: its contracts would stand elsewhere on this one.')
		const played: PlayedStep[] = []
		for (const step of story) {
			const txHashes: Hash[] = []
			for (const transaction of step.transactions) txHashes.push(await carryOut(transaction, step, node, signal))
			const done = { ...step, txHashes }
			played.push(done)
			await onStep(done)
		}
		return played
	} finally {
		await node.close()
	}
}

async function carryOut(tx: StoryTx, step: Step, node: Upstream, signal: AbortSignal): Promise<Hash> {
	const { from, to, valueWei, data, succeeds } = tx
	const request = { from, ...(to && { to }), value: hex(valueWei), data, gas: hex(gasLimit) }
	const hash = (await node.call('eth_sendTransaction', [request], signal)) as Hash
	const receipt = await receiptOf(hash, node, signal)
	if ((receipt.status === '0x1') === succeeds) return hash
	const words = succeeds ? 'failed' : 'succeeded'
	throw new PlainError(`The embedded node does not follow the demo: in the step "${step.name}" ${hash} ${words}.`)
}

/** A node that mines at intervals may take a while. */
export async function receiptOf(
	hash: Hash,
	node: Upstream,
	signal: AbortSignal,
): Promise<{ readonly status: string; readonly blockNumber: string }> {
	for (;;) {
		const receipt = await node.call('eth_getTransactionReceipt', [hash], signal)
		if (receipt !== null) return receipt as { status: string; blockNumber: string }
		await sleep(pollMs, undefined, { signal })
	}
}

function hex(number: bigint): string {
	return `0x${number.toString(16)}`
}
