/** The page of one watch: what it is, its balance, the movements that are known, and its alerts. */

import { formatAmount } from '../base/amount.js'
import type { Watch } from '../model/watch.js'
import { explorerLink, watchesOf, wholeAddress } from './addresses.js'
import { alertTable } from './alertTable.js'
import { listPage } from './listPage.js'
import { ago, amount, grouped } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { factList } from './look/layout.js'
import { chart, movementsOf } from './movements.js'
import type { NetworkFacts, PageFacts } from './pageData.js'
import { alerts } from './rows.js'
import { rulersOf, rulersSection } from './rulers.js'
import { kindsInWords, watchRows } from './watches.js'

/** Alerts that are read for the chart and the sums; the newest of them are listed. */
const mostRead = 300
const mostListed = 50

/** Null: the address is not watched on this network. */
export async function watchPage(facts: PageFacts, params: URLSearchParams) {
	const [network, address] = [params.get('network') ?? '', params.get('address') ?? '']
	const found = watchesOf(facts, network, address)
	const settings = facts.networks.find(({ name }) => name === network)
	if (found.length === 0 || settings === undefined) return null
	const query = new URLSearchParams({ network, address })
	const before = params.get('before')
	if (before !== null) query.set('before', before)
	const own = found[0]?.address ?? '0x'
	const list = await alerts(facts, query, { messages: mostRead, rows: 2 * mostRead })
	const movements = before === null ? movementsOf(list.alerts, settings, facts.clock()) : null
	return {
		network,
		address: facts.checksum(own),
		explorer: settings.explorer === null ? null : `${settings.explorer}/address/${facts.checksum(own)}`,
		watches: watchRows(facts, found).map((row, at) => ({ ...row, ...rulesOf(found[at], settings) })),
		/** Null on further pages, and where nothing is known to rule it. */
		rulers: before === null ? rulersOf(own, facts.state(network)?.contracts.get(own) ?? null, facts) : null,
		/** Of the last 30 days, in the network's coin; null on further pages. */
		movements,
		...list,
	}
}

/** The rules of a watch that its row does not show. */
function rulesOf(watch: Watch | undefined, { decimals, symbol }: NetworkFacts) {
	if (watch === undefined) return {}
	const { minValueWei, tokens = 'known', fromBlock, thresholds } = watch
	const coins = (wei: bigint) => `${formatAmount(wei, decimals)} ${symbol}`
	return {
		minValue: minValueWei <= 1n ? null : coins(minValueWei),
		tokens: typeof tokens === 'string' ? tokens : [...tokens],
		fromBlock: fromBlock === null ? null : Number(fromBlock),
		balanceBelow: thresholds?.belowWei == null ? null : coins(thresholds.belowWei),
		balanceAbove: thresholds?.aboveWei == null ? null : coins(thresholds.aboveWei),
	}
}

type Found = NonNullable<Awaited<ReturnType<typeof watchPage>>>

export function watchBody(found: Found, facts: PageFacts, params: URLSearchParams): Html {
	const { watches: own, network, address, explorer, rulers, movements, alerts: rows, next } = found
	const nowMs = facts.clock()
	const [first] = own
	const book = first?.book ?? null
	const shown: readonly (readonly [string, Html | string | null])[] = [
		['Address', html`${wholeAddress(address)}${explorerLink(explorer ?? undefined)}`],
		['Network', network],
		[
			'Balance',
			book === null
				? 'not known: its book is not closed yet'
				: html`<b>${amount(book.balance)} ${book.asset}</b> at block ${grouped(book.closedTo)}`,
		],
		['Last event', first?.lastEvent ? ago(first.lastEvent.at, nowMs) : 'none lately'],
	]
	const isShown = rows.length <= mostListed
	const all = new URLSearchParams({ network, address })
	return html`<section id="about" class="about" aria-label="About this watch">
<div><h2>What it is</h2>${factList(shown, 'Address')}</div>
${own.map((one) => html`<div><h2>Rules in ${one.watchlist}</h2>${rules(one)}</div>`)}</section>
${rulers === null ? null : rulersSection(rulers, address, network, facts)}
${
	movements === null
		? null
		: html`<section id="movements" aria-labelledby="h-movements">
<h2 id="h-movements">Known movements, 30 days</h2>
${chart(movements, nowMs, next === null ? undefined : mostRead)}</section>`
}
<h2>Alerts</h2>
${listPage({
	...{ path: '/watch', params, fields: [], label: 'Alerts', found: isShown ? found : { ...found, next: null } },
	body: html`${alertTable(rows.slice(0, mostListed), facts)}${
		isShown ? null : html`<p><a href="/alerts?${all.toString()}">All alerts of this watch</a></p>`
	}`,
})}`
}

function rules(one: Found['watches'][number]): Html {
	const tokens = Array.isArray(one.tokens) ? one.tokens.join(', ') : one.tokens === 'known' ? null : one.tokens
	return factList([
		['Label', one.label],
		['Tags', one.tags.join(', ') || null],
		['Alerts', kindsInWords(one)],
		['Least amount', one.minValue],
		['Tokens', tokens],
		['Alert below', one.balanceBelow],
		['Alert above', one.balanceAbove],
		['From block', one.fromBlock == null ? null : grouped(one.fromBlock)],
		['Receivers', one.receivers.join(', ')],
	])
}

export function titleOf({ watches: [first], address }: Found): string {
	return first?.label ?? address
}
