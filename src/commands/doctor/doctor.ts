/** The room asks endpoints and receivers what they can do, and prints a report. */

import { fitWords } from '../../base/text/outgoing.js'
import { blockCall, needBlock } from '../../chain/blocks/batchedCalls.js'
import type { Capabilities } from '../../chain/capabilities/capabilities.js'
import { isUsable, permitted, probeSettingOf, type SourceChoice } from '../../chain/capabilities/permitted.js'
import { probe } from '../../chain/capabilities/probe.js'
import type { Rpc } from '../../chain/rpc/rpc.js'
import { createRpc } from '../../chain/rpc/rpc.js'
import type { Config } from '../../config/load.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { contractsInWords } from '../../core/control/provedInWords.js'
import { adviceFor, logProofInWords, rangeLimitInWords, witnessInWords } from '../../core/cost/endpointAdvice.js'
import type { ContractForecast } from '../../core/cost/forecast.js'
import { MOST_BOOKS } from '../../core/ledger/books.js'
import { type NoBooks, noBooksBy, unreportedInWords } from '../../core/ledger/kindsNeedingBooks.js'
import { areTokensAsked, watchesOn } from '../../daemon/openNetwork.js'
import { RpcError } from '../../errors.js'
import { asksForContracts, isKindWanted } from '../../kinds/all.js'
import type { Address } from '../../model/glossary.js'
import type { WatchIndex } from '../../model/watch.js'
import { type Command, configOption, exitCodes } from '../command.js'
import { openConfig } from '../shared/openConfig.js'
import { whileWaiting } from '../shared/progress.js'
import { type BlockReport, examineBlock } from './doctorBlock.js'
import { examineContracts } from './doctorContracts.js'
import { forecastFor } from './doctorForecast.js'
import { type EndpointReport, linesOf, type NetworkReport } from './doctorReport.js'

export const doctor: Command = {
	name: 'doctor',
	summary: 'asks each endpoint what it can do, and whether its answers can be trusted',
	help: `Usage: tracewatch doctor [--json] [-c FILE]

Asks each endpoint of each network some ten cheap, harmless questions, checks the answers against each other, and prints
what it can do, which source of traces is used, and what to do about each weakness. Endpoints are shown by their host.

  --json              one JSON object
  -c, --config FILE   default: ./tracewatch.yaml, then /etc/tracewatch/tracewatch.yaml

Exit codes: 0 every network has an endpoint that can be trusted, 1 one has none, 75 endpoints could not be asked now,
78 the configuration is wrong.`,
	options: { ...configOption, json: { type: 'boolean' } },
	positionals: [0, 0],
	async run(args, io) {
		const config = await openConfig(args, io)
		const networks = await whileWaiting(inWords(config), () =>
			Promise.all(config.networks.map((network) => examine(network, config, io.signal))),
		)
		if (args.values['json'] === true) io.out(JSON.stringify({ networks }, null, 2))
		else for (const network of networks) for (const line of linesOf(network)) io.out(fitWords(line))
		const without = networks.filter(({ endpoints }) => !endpoints.some(({ usable }) => usable))
		if (without.length === 0) return exitCodes.done
		const passing = without.every(({ endpoints }) => endpoints.every(({ error }) => error !== null))
		return passing ? exitCodes.tryAgain : exitCodes.failed
	},
}

function inWords({ networks }: Config): string {
	const endpoints = networks.flatMap(({ rpc }) => rpc).length
	return `asking ${endpoints} ${endpoints === 1 ? 'endpoint' : 'endpoints'}`
}

async function examine(network: NetworkSettings, config: Config, signal: AbortSignal): Promise<NetworkReport> {
	const addresses = watchesOn(config.watches, network.name).size
	const asked = { ...network, keepsBooks: network.keepsBooks && addresses <= MOST_BOOKS[config.statePlace.kind] }
	const index = watchesOn(config.watches, network.name)
	const proved = contractsInWords(config.watches.rules, network)
	const named = proved === null || network.isPrivate ? null : askingForContracts(index)
	const examined = await Promise.all(network.rpc.map((url) => examineAll(url, asked, named, signal)))
	const endpoints = examined.map(({ report }) => report)
	const used = examined.find(({ report: { usable } }) => usable)
	const able = endpoints.filter(({ usable }) => usable).length
	const forTokens = areTokensAsked(config.watches, network)
	const areDelegationsReported = isKindWanted(index, 'delegation')
	const watched = { addresses, areTokensAsked: forTokens, areDelegationsReported }
	const forecast =
		used === undefined ? null : forecastFor(used.report, network, { ...watched, contracts: used.contracts })
	return {
		network: network.name,
		chainId: network.chainId,
		private: network.isPrivate,
		watches: addresses,
		logs: forTokens ? logProofInWords({ ...network, endpoints: able }) : null,
		contracts: proved,
		alone: witnessInWords(able),
		untold: unreportedOn(network, config, endpoints),
		forecast,
		callsPerDay: forecast?.callsPerDay ?? null,
		endpoints,
	}
}

function unreportedOn(
	network: NetworkSettings,
	{ watches, statePlace }: Config,
	endpoints: readonly EndpointReport[],
): string | null {
	const bySettings = noBooksBy(network, watchesOn(watches, network.name).size, MOST_BOOKS[statePlace.kind])
	const why = bySettings === null || bySettings === 'perhaps none' ? noBooksAt(network, endpoints) : bySettings
	return why === null ? null : unreportedInWords(watches.rules, network.name, why)
}

/** Why no books can be kept. Null: they can be kept, or no endpoint answered. */
function noBooksAt({ keepsBooks }: NetworkSettings, endpoints: readonly EndpointReport[]): NoBooks | null {
	const asked = endpoints.filter(({ error }) => error === null)
	if (asked.length === 0) return null
	if (keepsBooks) return asked.every(({ balances }) => balances === 'no') ? 'no balances' : null
	if (asked.some(({ accessLists }) => accessLists === 'checked' || accessLists === 'not known')) return null
	return asked.every(({ accessLists }) => accessLists === 'none') ? 'no lists' : 'lists not given'
}

/** Without the questions about watched contracts. */
export async function examineEndpoint(
	url: string,
	network: NetworkSettings,
	signal: AbortSignal,
): Promise<EndpointReport> {
	return (await examineAll(url, network, null, signal)).report
}

/** The watches that are asked for their code. */
function askingForContracts(watches: WatchIndex): readonly Address[] {
	return [...watches].flatMap(([address, list]) => (list.some(asksForContracts) ? [address] : []))
}

interface Examined {
	readonly report: EndpointReport
	readonly contracts: ContractForecast | null
}

async function examineAll(
	url: string,
	network: NetworkSettings,
	named: readonly Address[] | null,
	signal: AbortSignal,
): Promise<Examined> {
	const rpc = createRpc({ url, timeoutMs: 15_000 })
	try {
		const capabilities = await probe(rpc, { setting: probeSettingOf(choiceOf(network)) }, signal)
		const block = await examineBlock(rpc, capabilities.head.number, network, signal)
		const secondsPerBlock = await paceOf(rpc, capabilities.head, signal)
		const report = reportOf(rpc.endpoint, capabilities, network)
		const found = named === null ? null : await examineContracts(rpc, capabilities.head.number, named, signal)
		const contracts = found?.report ?? null
		const whole = { ...report, ...block, contracts, secondsPerBlock, limits: rpc.limits.report() }
		return { report: whole, contracts: found?.forecast ?? null }
	} catch (error) {
		signal.throwIfAborted()
		const report = unasked(rpc.endpoint, error instanceof Error ? error.message : String(error))
		return { report, contracts: null }
	} finally {
		await rpc.close()
	}
}

const PACE_BLOCKS = 500n

/**
 * Average seconds per block of the last blocks. Null when the chain has fewer than 10 of them, or when the node does
 * not answer.
 */
async function paceOf(rpc: Rpc, head: Capabilities['head'], signal: AbortSignal): Promise<number | null> {
	const from = head.number > PACE_BLOCKS ? head.number - PACE_BLOCKS : 1n
	if (head.number - from < 10n) return null
	try {
		const { method, params } = blockCall(from)
		const block = needBlock(await rpc.call(method, params, signal), from, rpc.endpoint)
		const seconds = Number(head.timestampS - block.timestampS) / Number(head.number - from)
		return seconds > 0 ? Math.round(seconds * 100) / 100 : null
	} catch (error) {
		if (error instanceof RpcError) return null
		throw error
	}
}

function reportOf(
	endpoint: string,
	capabilities: Capabilities,
	network: NetworkSettings,
): Omit<EndpointReport, 'limits' | 'secondsPerBlock' | 'contracts' | keyof BlockReport> {
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
		secondsPerBlock: null,
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
		accessLists: 'not known',
		contracts: null,
		takesAuthorisations: false,
		mayPayWithdrawals: false,
		reasons: [],
		advice: ['it could not be asked: see whether the URL, its key and the network are right'],
	}
}
