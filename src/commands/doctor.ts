import { fitWords } from '../base/outgoing.js'
import { createBalanceReader } from '../chain/balances/balances.js'
import type { Capabilities } from '../chain/capabilities/capabilities.js'
import { isUsable, permitted, probeSettingOf, type SourceChoice } from '../chain/capabilities/choice.js'
import { probe } from '../chain/capabilities/probe.js'
import type { LimitsReport } from '../chain/endpoints/limits.js'
import type { Rpc } from '../chain/rpc/rpc.js'
import { createRpc } from '../chain/rpc/rpc.js'
import { needBlock } from '../chain/sources/ask.js'
import { hexOf } from '../chain/wire.js'
import type { Config } from '../config/load.js'
import { longestGapMs } from '../config/settings/schedule.js'
import type { NetworkSettings } from '../config/settings/settings.js'
import { adviceFor, callsPerDay, durationInWords, rangeLimitInWords } from '../core/doctor.js'
import { watchesOn } from '../daemon/open.js'
import { RpcError } from '../errors.js'
import type { Address } from '../model/glossary.js'
import type { Log } from '../model/ports.js'
import { type Command, configOption, exitCodes } from './command.js'
import { openConfig } from './open.js'

export const doctor: Command = {
	name: 'doctor',
	summary: 'asks each endpoint what it can do, and whether its answers can be trusted',
	help: `Usage: tracewatch doctor [--json] [-c FILE]

Asks each endpoint of each network some ten cheap, harmless questions, holds the answers against each other, and prints
what it can do, which source of traces is used, and what to do about each weakness. Endpoints are shown by their host.

  --json              one JSON object
  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 every network has an endpoint that can be trusted, 1 one has none, 75 endpoints could not be asked now,
78 the configuration is wrong.`,
	options: { ...configOption, json: { type: 'boolean' } },
	positionals: [0, 0],
	async run(args, io) {
		const config = await openConfig(args, io)
		const networks = await Promise.all(config.networks.map((network) => examine(network, config, io.signal)))
		if (args.values['json'] === true) io.out(JSON.stringify({ networks }, null, 2))
		else for (const network of networks) for (const line of linesOf(network)) io.out(fitWords(line))
		const without = networks.filter(({ endpoints }) => !endpoints.some(({ usable }) => usable))
		if (without.length === 0) return exitCodes.done
		const passing = without.every(({ endpoints }) => endpoints.every(({ error }) => error !== null))
		return passing ? exitCodes.tryAgain : exitCodes.failed
	},
}

interface NetworkReport {
	readonly network: string
	readonly chainId: number
	readonly watches: number
	/** Roughly, of the endpoint that is used; null when none is. */
	readonly callsPerDay: number | null
	readonly endpoints: readonly EndpointReport[]
}

interface EndpointReport {
	readonly endpoint: string
	/** Why it could not be asked; null when it was. */
	readonly error: string | null
	readonly usable: boolean
	readonly client: string | null
	readonly chainId: string | null
	readonly head: number | null
	readonly headAgeSeconds: number | null
	readonly otsLevel: number | null
	readonly methods: Readonly<Record<string, string>>
	/** What both address lists in one question mean. */
	readonly lists: 'either' | 'both' | 'unknown'
	readonly rangeLimit: string
	/** What it was seen to bear, in this look; the daemon goes on learning. Null when it was not asked. */
	readonly limits: LimitsReport | null
	readonly tags: readonly string[]
	readonly trusted: boolean
	readonly proved: boolean
	/** The source of traces that is used; null when there is none. */
	readonly source: string | null
	readonly balances: Balances
	readonly reasons: readonly string[]
	readonly advice: readonly string[]
}

async function examine(network: NetworkSettings, config: Config, signal: AbortSignal): Promise<NetworkReport> {
	const endpoints = await Promise.all(network.rpc.map((url) => examineEndpoint(url, network, signal)))
	const addresses = watchesOn(config.watches, network.name).size
	const used = endpoints.find(({ usable }) => usable)
	const pollsPerDay = 86_400_000 / longestGapMs(network.schedule)
	// Where the pace of the chain is not known, Ethereum's.
	const forecast = { source: used?.source ?? null, pollsPerDay, blocksPerDay: 7_200, addresses }
	return {
		network: network.name,
		chainId: network.chainId,
		watches: addresses,
		callsPerDay: used === undefined ? null : callsPerDay(forecast),
		endpoints,
	}
}

async function examineEndpoint(url: string, network: NetworkSettings, signal: AbortSignal): Promise<EndpointReport> {
	const rpc = createRpc({ url, timeoutMs: 15_000 })
	try {
		const capabilities = await probe(rpc, { setting: probeSettingOf(choiceOf(network)) }, signal)
		const balances = network.keepsBooks ? await balancesAt(rpc, capabilities.head.number, signal) : 'not asked'
		return { ...reportOf(rpc.endpoint, capabilities, network), balances, limits: rpc.limits.report() }
	} catch (error) {
		signal.throwIfAborted()
		return unasked(rpc.endpoint, error instanceof Error ? error.message : String(error))
	} finally {
		await rpc.close()
	}
}

/** Anybody's: that of the fee recipient of nothing, which every chain has. */
const ANYBODY: Address = '0x0000000000000000000000000000000000000000'

/** Whether books can be kept here. */
async function balancesAt(rpc: Rpc, head: bigint, signal: AbortSignal): Promise<Balances> {
	try {
		const block = needBlock(await rpc.call('eth_getBlockByNumber', [hexOf(head), false], signal), head, rpc.endpoint)
		const reader = createBalanceReader({ log: silent })
		await reader.read(rpc, [ANYBODY], block, signal)
		return reader.wayOf(rpc)?.ask ?? 'no'
	} catch (error) {
		if (error instanceof RpcError) return 'no'
		throw error
	}
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

function reportOf(
	endpoint: string,
	capabilities: Capabilities,
	network: NetworkSettings,
): Omit<EndpointReport, 'limits'> {
	const nowMs = Date.now()
	const { clientVersion, chainId, head, otsLevel, methods, filterMode, safeTag, finalizedTag } = capabilities
	const isRight = chainId === null || chainId === BigInt(network.chainId)
	const source = permitted(capabilities.sources, choiceOf(network))[0] ?? null
	const isAble = source !== null && isUsable(source, capabilities)
	return {
		endpoint,
		error: null,
		usable: isRight && isAble,
		client: clientVersion,
		chainId: chainId === null ? null : chainId.toString(),
		head: Number(head.number),
		headAgeSeconds: Math.max(0, Math.round(nowMs / 1000) - Number(head.timestampS)),
		otsLevel,
		methods,
		lists: filterMode === null ? 'unknown' : filterMode === 'union' ? 'either' : 'both',
		rangeLimit: rangeLimitInWords(clientVersion),
		tags: [...(safeTag ? ['safe'] : []), ...(finalizedTag ? ['finalized'] : [])],
		trusted: isAble,
		proved: capabilities.proved,
		source,
		balances: 'not asked',
		reasons: capabilities.reasons,
		advice: adviceFor(capabilities, { ...network, source, isAble, nowMs }),
	}
}

function choiceOf({ source, isPrivate }: NetworkSettings): SourceChoice {
	return { setting: source, isPrivate }
}

function unasked(endpoint: string, error: string): EndpointReport {
	return {
		endpoint,
		error,
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
		reasons: [],
		advice: ['it could not be asked: see whether the URL, its key and the network are right'],
	}
}

function* linesOf({ network, chainId, watches, callsPerDay: calls, endpoints }: NetworkReport): Generator<string> {
	yield `${network} (chain ${chainId}), ${watches} ${watches === 1 ? 'address' : 'addresses'} watched`
	for (const report of endpoints) {
		yield `  ${report.endpoint}`
		for (const [name, value] of cellsOf(report)) for (const line of wrapped(name, value)) yield line
	}
	if (calls !== null) yield `  forecast: about ${calls} calls a day at this schedule, with a block each 12 s`
	yield ''
}

function cellsOf(report: EndpointReport): readonly (readonly [string, string])[] {
	const advice = report.advice.map((words) => ['to do', words] as const)
	if (report.error !== null) return [['failed', report.error], ...advice]
	const methods = Object.entries(report.methods).filter(([, ability]) => ability !== 'unknown')
	return [
		['client', report.client ?? 'does not say'],
		['chain id', report.chainId ?? 'does not say'],
		['head', `${report.head}, ${durationInWords(report.headAgeSeconds ?? 0)} old`],
		['tags', report.tags.length === 0 ? 'neither safe nor finalized' : report.tags.join(', ')],
		['ots level', report.otsLevel === null ? 'none: deployments are not confirmed by it' : String(report.otsLevel)],
		['methods', methods.map(([name, ability]) => `${name} ${ability}`).join(', ') || 'nothing to prove them by yet'],
		[
			'two lists',
			{ either: 'either (union)', both: 'both (intersection)', unknown: 'not seen; one list is asked at a time' }[
				report.lists
			],
		],
		['range limit', report.rangeLimit],
		['bears', bearsInWords(report.limits)],
		['trusted', report.trusted ? (report.proved ? 'yes, proved' : 'for now, not proved yet') : 'no'],
		['source', report.source ?? 'none'],
		['balances', balancesInWords[report.balances]],
		...report.reasons.map((words) => ['seen', words] as const),
		...advice,
	]
}

function bearsInWords(limits: LimitsReport | null): string {
	if (limits === null) return 'not known'
	const { requestsUnderWay, callsPerSecond, callsPerRequest } = limits
	const rate = callsPerSecond === null ? 'no limit a second seen' : `${Math.round(callsPerSecond)} calls a second`
	return `${requestsUnderWay} requests at once, ${callsPerRequest} calls in each, ${rate}; the daemon goes on learning`
}

/** How balances of recent blocks can be asked for. */
type Balances = 'together' | 'each' | 'no' | 'not asked'

const balancesInWords: Readonly<Record<Balances, string>> = {
	together: 'of many addresses in one question: books are kept',
	each: 'one by one: books are kept',
	no: 'not told: what this endpoint tells is not proved',
	'not asked': 'not asked: no books are kept',
}

/** A fact with its name before it, in lines of at most 80 columns. */
function* wrapped(name: string, value: string): Generator<string> {
	const width = 80 - 18
	let line = ''
	let first = true
	for (const word of value.split(' ')) {
		if (line !== '' && line.length + 1 + word.length > width) {
			yield `    ${(first ? name : '').padEnd(14)}${line}`
			first = false
			line = word
		} else line = line === '' ? word : `${line} ${word}`
	}
	yield `    ${(first ? name : '').padEnd(14)}${line}`
}
