/** A small chart of the last day, as SVG inside the page: numbers as bars, with a sentence that says the same. */

import { buckets } from './activity.js'
import { type Html, html } from './html.js'

const [width, height] = [buckets * 4, 64]

export interface ChartOptions {
	readonly id: string
	readonly title: string
	/** Of ten minutes each, the last is now; null: not known. */
	readonly values: readonly (number | null)[]
	readonly unit: string
}

export function chart({ id, title, values, unit }: ChartOptions): Html {
	const known = values.filter((value) => value !== null)
	const most = Math.max(1, ...known)
	const sum = known.reduce((total, value) => total + value, 0)
	const last = known.at(-1) ?? 0
	const unitFor = (number: number) => (number === 1 ? unit.replace(/s$/, '') : unit)
	const said =
		known.length === 0
			? 'nothing is known yet'
			: unit === 'alerts'
				? `${sum} in the last 24 hours, at most ${Math.max(...known)} in ten minutes`
				: `${last} ${unitFor(last)} at the last poll, at most ${Math.max(...known)} in the last 24 hours`
	const bars = values.flatMap((value, at) => {
		if (value === null || value === 0) return []
		const tall = Math.max(1, Math.round((value / most) * (height - 4)))
		return [html`<rect x="${at * 4}" y="${height - tall}" width="3" height="${tall}"/>`]
	})
	return html`<figure class="chart"><figcaption id="${id}">${title}: ${said}</figcaption>
<svg role="img" aria-labelledby="${id}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
<line x1="0" x2="${width}" y1="${height - 0.5}" y2="${height - 0.5}"/>${bars}</svg></figure>`
}
