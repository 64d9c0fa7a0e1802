/** Who rules a watch that has code: the section of its page, and the same in JSON. */

import { controllersOf, type Ruling } from '../core/control/controllersOf.js'
import { changesInWords } from '../kinds/controlText.js'
import type { Contract } from '../model/contract.js'
import type { Address } from '../model/glossary.js'
import { isAddress, party } from './addresses.js'
import { grouped } from './look/figures.js'
import { type Html, html } from './look/html.js'
import type { PageFacts } from './pageData.js'

/** Null: nothing is known to rule it, or nothing was read yet. */
export function rulersOf(address: Address, contract: Contract | null, { checksum }: Pick<PageFacts, 'checksum'>) {
	if (contract === null) return null
	const spelled = (text: string) => (isAddress(text) ? checksum(text) : text)
	const rulings = controllersOf(address, contract.values).map((one) => ({
		...one,
		contract: checksum(one.contract),
		value: spelled(one.value),
	}))
	if (rulings.length === 0) return null
	return { readAt: Number(contract.readAt), isSafe: contract.isSafe, rulings }
}

export type Rulers = NonNullable<ReturnType<typeof rulersOf>>

export function rulersSection({ readAt, rulings }: Rulers, own: string, network: string, facts: PageFacts): Html {
	return html`<section id="rulers" aria-labelledby="h-rulers"><h2 id="h-rulers">Who rules it</h2>
<p>As read after block ${grouped(readAt)}. Slots and lists stand in storage; a function is an answer of the code.</p>
<dl>${rulings.map((one) => {
		const what = one.change === 'value' ? one.place : changesInWords[one.change]
		const at = one.contract === own ? null : html` at ${party(facts, network, one.contract)}`
		const value = isAddress(one.value) ? party(facts, network, one.value) : html`<code>${one.value}</code>`
		const why = html`<span class="quiet">${evidenceOf(one)}</span>`
		return html`<dt class="wide">${what}${at}</dt><dd class="wide">${value} ${why}</dd>`
	})}</dl></section>`
}

function evidenceOf({ shownBy, slot, place }: Pick<Ruling, 'shownBy' | 'slot' | 'place'>): string {
	if (shownBy === 'list') return 'its list in storage'
	return slot === null ? place : `slot ${slot.slice(0, 10)}…${slot.slice(-4)}`
}
