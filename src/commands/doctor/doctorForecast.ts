/** The forecast of calls and credits in `doctor`. */

import type { LimitsReport } from '../../chain/limits/limits.js'
import { longestGapMs } from '../../config/settings/cron.js'
import type { NetworkSettings } from '../../config/settings/settings.js'
import { type ContractForecast, type Forecast, forecastOf } from '../../core/cost/forecast.js'
import { pricesAsOf, providerOf } from '../../core/cost/prices.js'

export interface NetworkForecast extends Forecast {
	readonly endpoint: string
	/** The provider whose prices apply; null when the prices of this host are not known. */
	readonly provider: string | null
	readonly pollsPerDay: number
	/** The recent average of the chain; 12 when the chain has no history. */
	readonly secondsPerBlock: number
}

/** What `doctor` found out about the endpoint that is used. */
interface Used {
	readonly endpoint: string
	readonly source: string | null
	readonly lists: 'either' | 'both' | 'unknown'
	readonly tags: readonly string[]
	readonly methods: Readonly<Record<string, string>>
	readonly balances: string
	readonly accessLists: string
	readonly takesAuthorisations: boolean
	readonly mayPayWithdrawals: boolean
	readonly limits: LimitsReport | null
	readonly secondsPerBlock: number | null
}

/** Ethereum's block time, used when that of the chain is not known. */
const USUAL_SECONDS = 12

export interface Watched {
	readonly addresses: number
	/** Whether any watch asks for tokens. */
	readonly areTokensAsked: boolean
	/** Whether any watch asks for delegations. */
	readonly areDelegationsReported: boolean
	/** Of the endpoint that is used; null: no contract is read. */
	readonly contracts: ContractForecast | null
}

export function forecastFor(used: Used, network: NetworkSettings, watched: Watched): NetworkForecast {
	const { addresses, areTokensAsked, areDelegationsReported, contracts } = watched
	const { isPrivate, mostLogProofs } = network
	const { endpoint, source, lists, tags, methods, balances, limits } = used
	const provider = providerOf(endpoint)
	const held = network.keepsListedBooks ? 'alone' : balances === 'not asked' ? null : 'beside balances'
	const secondsPerBlock = used.secondsPerBlock ?? USUAL_SECONDS
	const pollsPerDay = Math.round(86_400_000 / longestGapMs(network.schedule))
	const forecast = forecastOf({
		source,
		hasWholeBlocks: methods['trace_block'] === 'yes',
		pollsPerDay,
		blocksPerDay: 86_400 / secondsPerBlock,
		addresses,
		perList: limits?.addressesPerList ?? 1_000,
		together: lists === 'either',
		tags: tags.length,
		isToHead: network.confirmations === 0,
		settlesInJumps: network.settle === 'finalized' && tags.includes('finalized'),
		balances: (['together', 'multicall', 'each'] as const).find((way) => way === balances) ?? null,
		...(used.accessLists === 'checked' && held !== null && { accessLists: held }),
		readsTransactions: areDelegationsReported && used.takesAuthorisations,
		mayBePaid: used.mayPayWithdrawals,
		logs: areTokensAsked ? { isPrivate, mostLogProofs, hasWitness: network.rpc.length > 1 } : null,
		...(contracts !== null && { contracts }),
		price: provider?.creditsOf ?? null,
	})
	return { endpoint, provider: provider?.name ?? null, pollsPerDay, secondsPerBlock, ...forecast }
}

export function* forecastInWords(forecast: NetworkForecast): Generator<readonly [name: string, words: string]> {
	const { endpoint, provider, callsPerDay, creditsPerDay, perTouchedBlock, secondsPerBlock } = forecast
	const credits = (count: number | null) => (count === null ? '' : ` (${inWords(count)} credits)`)
	const each = `a block each ${secondsPerBlock} s`
	yield [
		'forecast',
		`about ${inWords(callsPerDay)} calls a day${credits(creditsPerDay)} at this schedule, with ${each}`,
	]
	yield ['', `and ${perTouchedBlock.calls}${credits(perTouchedBlock.credits)} more for each block that touches a watch`]
	if (provider === null) yield ['', `what ${endpoint} charges is not known`]
	else yield ['', `credits are those of ${provider}, as of ${pricesAsOf}`]
}

function inWords(count: number): string {
	return Math.round(count).toLocaleString('en-GB')
}
