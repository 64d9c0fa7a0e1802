/**
 * Stored form of a watch's payees, for both stores: `address amount starter`, separated by commas, in order. Without a
 * starter: not known.
 */

import type { Address } from '../../model/glossary.js'
import type { Payee } from '../../model/state.js'

const texts = new WeakMap<readonly Payee[], string>()

export function payeesText(list: readonly Payee[]): string {
	let text = texts.get(list)
	if (text === undefined) {
		text = list.map(({ address, amount, startedBy }) => [address, amount, startedBy].filter(Boolean).join(' ')).join()
		texts.set(list, text)
	}
	return text
}

export function payeesOf(text: string): readonly Payee[] {
	const list = text.split(',').map((one): Payee => {
		const [address = '', amount = '', startedBy] = one.split(' ')
		const isKnown = startedBy === 'watch' || startedBy === 'other'
		return { address: address as Address, amount, ...(isKnown && { startedBy }) }
	})
	texts.set(list, text)
	return list
}
