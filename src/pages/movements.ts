/** The chart of a watch: the coins that alerts report as moved, a bar a day, in and out. */

import { formatAmount } from '../base/amount.js'
import { counted } from '../base/text/counted.js'
import { utc } from '../base/utc.js'
import { amount, grouped } from './look/figures.js'
import { type Html, html } from './look/html.js'
import type { NetworkFacts } from './pageData.js'
import type { AlertRow } from './rows.js'

const DAYS = 30
const DAY_MS = 86_400_000
const COIN_KINDS: ReadonlySet<string> = new Set(['transfer', 'deployment', 'withdrawal', 'income', 'unexplained'])

/** The sums of each of the last days (UTC), the current one last, in the network's coin. */
export function movementsOf(rows: readonly AlertRow[], { decimals, symbol }: NetworkFacts, nowMs: number) {
	const sums = { in: Array<bigint>(DAYS).fill(0n), out: Array<bigint>(DAYS).fill(0n) }
	// The last word about an alert may be its retraction, or that it stands once more.
	const alerts = rows
		.toSorted((one, other) => lastWordAt(other).localeCompare(lastWordAt(one)))
		.flatMap(({ type, alerts: [data] }) => (data === undefined ? [] : [{ type, ...data }]))
	const seen = new Set<string>()
	for (const { type, id, kind, valueWei, direction, blockTimestamp } of alerts) {
		if (seen.has(id)) continue
		seen.add(id)
		if (type === 'alert.removed' || !COIN_KINDS.has(kind) || direction === 'self') continue
		if (!/^\d+$/.test(valueWei ?? '')) continue
		const side = direction === 'out' ? sums.out : sums.in
		const at = DAYS - 1 - (Math.floor(nowMs / DAY_MS) - Math.floor(Date.parse(blockTimestamp) / DAY_MS))
		const sum = side[at]
		if (sum !== undefined) side[at] = sum + BigInt(valueWei ?? 0)
	}
	const coins = (wei: bigint) => formatAmount(wei, decimals)
	const whole = (values: readonly bigint[]) => coins(values.reduce((one, other) => one + other, 0n))
	return {
		...{ asset: symbol, in: sums.in.map(coins), out: sums.out.map(coins) },
		...{ sumIn: whole(sums.in), sumOut: whole(sums.out) },
	}
}

/** When a message was made last: an alert that is sent again has the id of the first one. */
function lastWordAt({ toldAt, deliveries }: AlertRow): string {
	return deliveries.reduce((last, { toldAt: at }) => (at > last ? at : last), toldAt)
}

/** Of a bar, in units of the drawing. */
const BAR_WIDTH = 4
const HEIGHT = 64

/** Bars as SVG, and a sentence with the same figures. `newest`: how many alerts were read, if there are more. */
export function chart(
	{ asset, sumIn, sumOut, ...texts }: ReturnType<typeof movementsOf>,
	nowMs: number,
	newest?: number,
): Html {
	const [above, below] = [texts.in.map(Number), texts.out.map(Number)]
	const [most, least] = [Math.max(...above), Math.max(...below)]
	const whole = Math.max(most + least, Number.MIN_VALUE)
	const zero = Math.round((most / whole) * HEIGHT)
	const wide = DAYS * BAR_WIDTH
	const bars = (values: readonly number[], side: 'in' | 'out') =>
		values.map((value, at) => {
			if (value === 0) return null
			const tall = Math.max(1, Math.round((value / whole) * (HEIGHT - 2)))
			const place = html`x="${at * BAR_WIDTH}" y="${side === 'out' ? zero : zero - tall}"`
			return html`<rect class="${side}" ${place} width="${BAR_WIDTH - 1}" height="${tall}"/>`
		})
	const label = (sign: string, value: number) =>
		value === 0 ? '0' : `${sign}${value >= 1_000 ? grouped(Math.round(value)) : Number(value.toPrecision(3))} ${asset}`
	const spans = (words: readonly string[]) => words.map((text) => html`<span>${text}</span>`)
	const days = [29, 20, 10].map((count) => utc(nowMs - count * DAY_MS).slice(5, 10))
	const axis = Math.min(HEIGHT - 0.5, Math.max(0.5, zero))
	const part = newest === undefined ? '' : `, of the newest ${amount(counted(newest, 'alert'))} only`
	return html`<figure class="chart"><figcaption id="c-title"><b>A bar a day (UTC)</b>
${amount(sumIn)} ${asset} in, ${amount(sumOut)} ${asset} out${part}</figcaption>
<div class="plot"><div class="scale" aria-hidden="true">${spans([label('+', most), label('−', least)])}</div>
<svg role="img" aria-labelledby="c-title" viewBox="0 0 ${wide} ${HEIGHT}" preserveAspectRatio="none">
<line x1="0" x2="${wide}" y1="${axis}" y2="${axis}"/>${bars(above, 'in')}${bars(below, 'out')}</svg>
<div class="times" aria-hidden="true">${spans([...days, 'today'])}</div>
</div></figure><p class="quiet">What alerts report: fees and what the rules of the watch leave out are not in it.</p>`
}
