/** The page of one watch: what it is, its balance, the movements that are known, and its alerts. */

import { formatAmount, parseAmount } from '../base/amount.js'
import { counted } from '../base/text/counted.js'
import { utc } from '../base/utc.js'
import type { AlertData } from '../model/alert.js'
import type { Watch } from '../model/watch.js'
import { explorerLink, watchesOf, wholeAddress } from './addresses.js'
import { alerts } from './alerts.js'
import { alertTable } from './alertTable.js'
import { kindsInWords } from './chosenKinds.js'
import { chart } from './look/chart.js'
import { ago, amount, grouped } from './look/figures.js'
import { type Html, html } from './look/html.js'
import { factList, pager } from './look/layout.js'
import type { NetworkFacts, PageFacts } from './pageData.js'
import { type AlertRow, holesIn } from './rows.js'
import { rulersOf, rulersSection } from './rulers.js'
import { watchRows } from './watches.js'

const days = 30
const dayMs = 86_400_000
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
	const list = await alerts(facts, query, { most: mostRead, rows: 2 * mostRead })
	const movements = before === null ? movementsOf(list.alerts, settings, facts.clock()) : null
	return {
		network,
		address: facts.checksum(own),
		explorer: settings.explorer === null ? null : `${settings.explorer}/address/${facts.checksum(own)}`,
		watches: watchRows(facts, found).map((row, at) => ({ ...row, ...rulesOf(found[at], settings) })),
		/** Null on further pages, and where nothing is known to rule it. */
		rulers: before === null ? rulersOf(own, facts.contractOf(network, own), facts) : null,
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

/** The sums of each of the last days, the current one last, of the coin movements that alerts report. */
function movementsOf(rows: readonly AlertRow[], { decimals, symbol }: NetworkFacts, nowMs: number) {
	const today = Math.floor(nowMs / dayMs)
	const sums = { in: Array<bigint>(days).fill(0n), out: Array<bigint>(days).fill(0n) }
	const retracted = new Set(
		rows.flatMap(({ type, alerts: [data] }) => (type === 'alert.removed' && data ? [data.id] : [])),
	)
	const seen = new Set<string>()
	for (const data of rows.flatMap(({ alerts: inside }) => inside)) {
		if (!isMovement(data) || retracted.has(data.id) || seen.has(data.id)) continue
		seen.add(data.id)
		const at = days - 1 - (today - Math.floor(Date.parse(data.blockTimestamp) / dayMs))
		const side = data.direction === 'out' ? sums.out : sums.in
		const sum = side[at]
		if (sum !== undefined) side[at] = sum + parseAmount(`${data.valueWei} wei`, decimals)
	}
	const whole = (values: readonly bigint[]) =>
		formatAmount(
			values.reduce((one, other) => one + other, 0n),
			decimals,
		)
	const texts = (values: readonly bigint[]) => values.map((value) => formatAmount(value, decimals))
	return { asset: symbol, in: texts(sums.in), out: texts(sums.out), sumIn: whole(sums.in), sumOut: whole(sums.out) }
}

const coinKinds: ReadonlySet<string> = new Set(['transfer', 'deployment', 'withdrawal', 'income', 'unexplained'])

function isMovement({ kind, valueWei, direction }: AlertData): boolean {
	return coinKinds.has(kind) && /^\d+$/.test(valueWei ?? '') && direction !== 'self'
}

type Found = NonNullable<Awaited<ReturnType<typeof watchPage>>>

export function watchBody(found: Found, facts: PageFacts, params: URLSearchParams): Html {
	const { watches: own, network, address, explorer, rulers, movements, alerts: rows, next, cut, holes } = found
	const nowMs = facts.clock()
	const [first] = own
	const book = first?.book ?? null
	const { receivers } = facts
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
	const names = new Set(receivers.map(({ name }) => name))
	return html`<section id="about" class="about" aria-label="About this watch">
<div><h2>What it is</h2>${factList(shown, 'Address')}</div>
${own.map((one) => html`<div><h2>Rules in ${one.watchlist}</h2>${rules(one, names)}</div>`)}</section>
${rulers === null ? null : rulersSection(rulers, address, network, facts)}
${
	movements === null
		? null
		: html`<section id="movements" aria-labelledby="h-movements">
<h2 id="h-movements">Known movements, 30 days</h2>
${movementChart(movements, { isCut: next !== null, nowMs })}</section>`
}
<section id="list" aria-labelledby="h-list"><h2 id="h-list">Alerts</h2>
${holesIn(holes)}
${
	rows.length === 0
		? html`<p class="none">No alert${facts.history === null ? ' waits; no history is kept' : ''}.</p>`
		: alertTable(rows.slice(0, mostListed), facts)
}
${
	rows.length > mostListed
		? html`<p><a href="/alerts?${String(new URLSearchParams({ network, address }))}">All alerts of this watch</a></p>`
		: pager('/watch', params, next, cut ? 'Look further back' : 'Older')
}</section>`
}

function rules(one: Found['watches'][number], names: ReadonlySet<string>): Html {
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
		[
			'Receivers',
			html`${one.receivers.map(
				(name, at) =>
					html`${at === 0 ? null : ', '}${
						names.has(name) ? html`<a href="/deliveries?receiver=${encodeURIComponent(name)}">${name}</a>` : name
					}`,
			)}`,
		],
	])
}

function movementChart(
	{ asset, in: inward, out, sumIn, sumOut }: NonNullable<Found['movements']>,
	{ isCut, nowMs }: { readonly isCut: boolean; readonly nowMs: number },
): Html {
	const daysBefore = (count: number) => utc(nowMs - count * dayMs).slice(5, 10)
	const numbers = (texts: readonly string[]) => texts.map(Number)
	const says = `${amount(sumIn)} ${asset} in, ${amount(sumOut)} ${asset} out${
		isCut ? `, of the newest ${amount(counted(mostRead, 'alert'))} only` : ''
	}`
	return html`${chart({
		title: 'A bar a day (UTC)',
		says,
		above: numbers(inward),
		below: numbers(out),
		times: [daysBefore(29), daysBefore(20), daysBefore(10), 'today'],
		label: (value) => `${value >= 1_000 ? grouped(Math.round(value)) : Number(value.toPrecision(3))} ${asset}`,
	})}<p class="quiet">What alerts report: fees and what the rules of the watch leave out are not in it.</p>`
}

export function titleOf({ watches: [first], address }: Found): string {
	return first?.label ?? address
}
