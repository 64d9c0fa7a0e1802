/** What one endpoint can do, as `doctor` reports it. */

import { isUsable, permitted, probeSettingOf } from '../../chain/capabilities/permitted.js'
import { probe } from '../../chain/capabilities/probe.js'
import type { LimitsReport } from '../../chain/limits/limits.js'
import { createRpc } from '../../chain/rpc/rpc.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { adviceFor, rangeLimitInWords } from './advice.js'
import { examineState, type StateReport } from './endpointState.js'

export interface EndpointReport extends StateReport {
	readonly endpoint: string
	/** Why the endpoint could not be examined; null when it was. */
	readonly error: string | null
	readonly usable: boolean
	readonly client: string | null
	readonly chainId: string | null
	readonly head: number | null
	readonly headAgeSeconds: number | null
	readonly otsLevel: number | null
	readonly methods: Readonly<Record<string, string>>
	/** Whether a request with both address lists matches either list or both. */
	readonly lists: 'either' | 'both' | 'unknown'
	readonly rangeLimit: string
	/** Limits measured in this run; the daemon continues to measure. Null when the endpoint was not examined. */
	readonly limits: LimitsReport | null
	readonly tags: readonly string[]
	readonly trusted: boolean
	readonly proved: boolean
	/** The trace source that is used; null when there is none. */
	readonly source: string | null
	readonly reasons: readonly string[]
	readonly advice: readonly string[]
}

const UNASKED: Omit<EndpointReport, 'endpoint' | 'error'> = {
	usable: false,
	client: null,
	chainId: null,
	head: null,
	headAgeSeconds: null,
	otsLevel: null,
	methods: {},
	lists: 'unknown',
	rangeLimit: 'unknown',
	limits: null,
	tags: [],
	trusted: false,
	proved: false,
	source: null,
	balances: 'not asked',
	blooms: 'not known',
	accessLists: 'not known',
	contracts: null,
	reasons: [],
	advice: ['it could not be asked: see whether the URL, its key and the network are right'],
}

type Examined = Pick<NetworkSettings, 'chainId' | 'confirmations' | 'settle' | 'source' | 'isPrivate' | 'keepsBooks'>

/** `readsContracts`: whether the daemon reads the state of watched contracts. */
export async function examineEndpoint(
	url: string,
	network: Examined & { readonly readsContracts: boolean },
	signal: AbortSignal,
): Promise<EndpointReport> {
	const choice = { setting: network.source, isPrivate: network.isPrivate }
	const rpc = createRpc({ url, timeoutMs: 15_000 })
	const { endpoint } = rpc
	try {
		const found = await probe(rpc, { setting: probeSettingOf(choice) }, signal)
		const { clientVersion, chainId, head, filterMode } = found
		const state = await examineState(rpc, head.number, network, signal)
		const nowMs = Date.now()
		const source = permitted(found.sources, choice)[0] ?? null
		const isAble = source !== null && isUsable(source, found)
		return {
			endpoint,
			error: null,
			usable: isAble && (chainId === null || chainId === BigInt(network.chainId)),
			client: clientVersion,
			chainId: chainId === null ? null : chainId.toString(),
			head: Number(head.number),
			headAgeSeconds: Math.max(0, Math.round(nowMs / 1000) - Number(head.timestampS)),
			otsLevel: found.otsLevel,
			methods: found.methods,
			lists: filterMode === null ? 'unknown' : filterMode === 'union' ? 'either' : 'both',
			rangeLimit: rangeLimitInWords(clientVersion),
			limits: rpc.limits.report(),
			tags: [...(found.safeTag ? ['safe'] : []), ...(found.finalizedTag ? ['finalized'] : [])],
			trusted: isAble,
			proved: found.proved,
			source,
			...state,
			reasons: found.reasons,
			advice: adviceFor(found, { ...network, source, isAble, blooms: state.blooms, nowMs }),
		}
	} catch (error) {
		signal.throwIfAborted()
		return { ...UNASKED, endpoint, error: error instanceof Error ? error.message : String(error) }
	} finally {
		await rpc.close()
	}
}
