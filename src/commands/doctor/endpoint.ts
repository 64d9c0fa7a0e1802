/** What one endpoint can do, as `doctor` reports it: the probe of `chain`, and what the endpoint gives of the state. */

import { askAll, blockCall, needBlock } from '../../chain/blocks/batchedCalls.js'
import type { Capabilities } from '../../chain/capabilities/capabilities.js'
import { isUsable, permitted, probeSettingOf } from '../../chain/capabilities/permitted.js'
import { probe } from '../../chain/capabilities/probe.js'
import { bloomBytes, bloomOf } from '../../chain/logs/proofs/bloom.js'
import { readLogs } from '../../chain/logs/proofs/wireLogs.js'
import { createRpc, type Rpc, type RpcCall } from '../../chain/rpc/rpc.js'
import { readAccessList } from '../../chain/state/accessList.js'
import { createBalanceReader } from '../../chain/state/balances.js'
import { readChanges } from '../../chain/state/codeReader.js'
import { createContractState } from '../../chain/state/contractState.js'
import { type Header, hexBytes, isObject } from '../../chain/wire/wire.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { RpcError, type RpcErrorKind } from '../../errors.js'
import type { Address, Hash, Hex } from '../../model/glossary.js'
import { adviceFor } from './advice.js'

/** One of the list `endpoints` of `doctor --json`. */
export type EndpointReport = Awaited<ReturnType<typeof examineEndpoint>>

/** `readsContracts`: whether the daemon reads the state of watched contracts. */
interface Examined
	extends Pick<NetworkSettings, 'chainId' | 'confirmations' | 'settle' | 'source' | 'isPrivate' | 'keepsBooks'> {
	readonly readsContracts: boolean
}

export async function examineEndpoint(url: string, network: Examined, signal: AbortSignal) {
	const rpc = createRpc({ url, timeoutMs: 15_000 })
	const { endpoint } = rpc
	try {
		const setting = probeSettingOf({ setting: network.source, isPrivate: network.isPrivate })
		const found = await probe(rpc, { setting }, signal)
		const facts = factsOf(found, await examineState(rpc, found.head.number, network, signal), network)
		return { endpoint, error: null, ...facts, advice: adviceFor(facts, network), limits: rpc.limits.report() }
	} catch (error) {
		signal.throwIfAborted()
		const words = error instanceof Error ? error.message : String(error)
		return { endpoint, error: words, ...factsOf(null, NO_STATE, network), advice: [notAsked(error)], limits: null }
	} finally {
		await rpc.close()
	}
}

const REFUSALS: Partial<Record<RpcErrorKind, string>> = {
	auth: 'it refuses the key: correct the URL, or its secret',
	quota: 'the plan is used up: a larger plan, or another endpoint',
	rate: 'it limits requests at present: ask again later; if it stays so, a larger plan, or another endpoint',
}

/** What to do about an endpoint that could not be asked. */
function notAsked(error: unknown): string {
	const refusal = error instanceof RpcError ? REFUSALS[error.kind] : undefined
	return refusal ?? 'it could not be asked: see whether it runs and can be reached, and whether the URL is right'
}

const BEYOND_HEAD = 'it answers requests beyond its head with nothing: it is never asked beyond the head it reports'

/** Blocks a request may span by default, by the beginning of the client's name (docs/nodes.md has the sources). */
const RANGE_BY_CLIENT = { reth: 101, anvil: 301, besu: 1001 }

/** The fields of `doctor --json`. `found`: null where the endpoint could not be asked. */
function factsOf(found: Capabilities | null, state: EndpointState, network: Examined) {
	const source = found && (permitted(found.sources, { ...network, setting: network.source })[0] ?? null)
	const trusted = found !== null && source !== null && isUsable(source, found)
	const ageS = found && Math.max(0, Math.round(Date.now() / 1000) - Number(found.head.timestampS))
	const name = found?.clientVersion?.toLowerCase() ?? ''
	const [, range] = Object.entries(RANGE_BY_CLIENT).find(([client]) => name.startsWith(client)) ?? []
	return {
		usable: trusted && (found.chainId === null || found.chainId === BigInt(network.chainId)),
		client: found?.clientVersion ?? null,
		chainId: found?.chainId?.toString() ?? null,
		head: found && Number(found.head.number),
		headAgeSeconds: found?.head.hasNoTime ? null : ageS,
		otsLevel: found?.otsLevel ?? null,
		methods: (found?.methods ?? {}) as Partial<Capabilities['methods']>,
		/** Whether a request with both address lists matches either list or both. */
		lists: ({ union: 'either', intersection: 'both', none: 'unknown' } as const)[found?.filterMode ?? 'none'],
		rangeLimit: `${range === undefined ? 'none known' : `${range} blocks, by its name`}; learnt when it refuses`,
		tags: [...(found?.safeTag ? ['safe'] : []), ...(found?.finalizedTag ? ['finalized'] : [])],
		trusted,
		proved: found?.proved ?? false,
		/** The source that is used; null when there is none. */
		source,
		...state,
		/** What a reader should know of, whether or not something can be done about it. */
		reasons: [...(found?.reasons ?? []), ...(found?.beyondHead === 'empty' ? [BEYOND_HEAD] : [])],
	}
}

type EndpointState = Awaited<ReturnType<typeof examineState>>

const NO_STATE = { balances: 'not asked', blooms: 'not known', accessLists: 'not known', contracts: null } as const

/** Any address serves. The zero address exists on every chain. */
const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
const FIRST_SLOT: Hash = `0x${'0'.repeat(64)}`
/** Most blocks in which a transaction is looked for. */
const MOST_BLOCKS = 5n

/** Throws only the signal's reason. */
export async function examineState(
	rpc: Rpc,
	head: bigint,
	{ keepsBooks, readsContracts }: { readonly keepsBooks: boolean; readonly readsContracts: boolean },
	signal: AbortSignal,
) {
	const raw = await answerTo(rpc, blockCall(head), signal)
	const block = await orNull(async () => needBlock(raw, head, rpc.endpoint))
	const bloom = isObject(raw) ? hexBytes(raw.logsBloom, 256) : null
	return {
		balances: keepsBooks ? await balancesAt(rpc, block, signal) : 'not asked',
		/** Whether the bloom of the newest header has bits that no log of its block makes. */
		blooms: block === null || bloom === null ? 'not known' : await bloomsAt(rpc, block.hash, bloom, signal),
		accessLists: block === null ? 'not known' : await accessListOf(rpc, block, signal),
		/** Null: no watch asks for `control` or `code`, or the network is private. */
		contracts: readsContracts
			? { ...(await strategyAt(rpc, block, signal)), changes: await changesAt(rpc, head, signal) }
			: null,
	} as const
}

async function balancesAt(rpc: Rpc, block: Header | null, signal: AbortSignal) {
	const reader = createBalanceReader()
	if (block !== null) await orNull(() => reader.read(rpc, [ZERO_ADDRESS], block, signal))
	return reader.strategyOf(rpc)?.ask ?? 'no'
}

async function bloomsAt(rpc: Rpc, blockHash: Hash, bloom: Hex, signal: AbortSignal) {
	const call = { method: 'eth_getLogs', params: [{ blockHash }] }
	const reading = { endpoint: rpc.endpoint, method: call.method }
	const logs = await orNull(async () => readLogs(await answerTo(rpc, call, signal), reading))
	if (logs === null) return 'not known'
	const made = bloomBytes(await bloomOf(logs))
	return bloomBytes(bloom).every((byte, at) => (byte & ~(made[at] ?? 0)) === 0) ? 'plain' : 'extra bits'
}

async function accessListOf(rpc: Rpc, block: Header, signal: AbortSignal) {
	if (block.accessListHash === undefined) return 'none'
	try {
		await readAccessList(rpc, block, signal)
		return 'checked'
	} catch (error) {
		if (!(error instanceof RpcError)) throw error
		if (error.kind === 'malformed') return 'wrong'
		return ['no-data', 'unsupported', 'bad-params'].includes(error.kind) ? 'not given' : 'not known'
	}
}

async function strategyAt(rpc: Rpc, block: Header | null, signal: AbortSignal) {
	const state = createContractState({ endpoints: { use: (job, until) => job(rpc, until) } })
	const question = { address: ZERO_ADDRESS, slots: [FIRST_SLOT] }
	if (block !== null) await orNull(() => state.slots([], [question], block, signal))
	return state.strategyOf(rpc) ?? ({ ask: 'no', by: null } as const)
}

type Changes = Awaited<ReturnType<typeof readChanges>>['by'] | 'no' | 'not known'

async function changesAt(rpc: Rpc, head: bigint, signal: AbortSignal): Promise<Changes> {
	for (let number = head; number > 0n && number > head - MOST_BLOCKS; number--) {
		const block = await answerTo(rpc, blockCall(number), signal)
		const [txHash] = isObject(block) && Array.isArray(block.transactions) ? block.transactions : []
		if (typeof txHash !== 'string') continue
		return (await orNull(() => readChanges(rpc, txHash as Hash, ZERO_ADDRESS, signal)))?.by ?? 'no'
	}
	return 'not known'
}

/** Null: the endpoint refuses it, or does not answer. */
async function answerTo(rpc: Rpc, call: RpcCall, signal: AbortSignal): Promise<unknown> {
	return await orNull(async () => (await askAll(rpc, [{ ...call, isWhole: true }], signal))[0])
}

async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
	try {
		return await ask()
	} catch (error) {
		if (error instanceof RpcError) return null
		throw error
	}
}
