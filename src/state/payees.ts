/** Whom a watch has paid, as both stores write it: `address amount`, with commas between, the latest last. */

import type { Address } from '../model/glossary.js'
import type { Payee } from '../model/state.js'

const texts = new WeakMap<readonly Payee[], string>()

export function payeesText(list: readonly Payee[]): string {
	let text = texts.get(list)
	if (text === undefined) {
		text = list.map(({ address, amount }) => `${address} ${amount}`).join()
		texts.set(list, text)
	}
	return text
}

export function payeesOf(text: string): readonly Payee[] {
	const list = text.split(',').map((one): Payee => {
		const [address = '', amount = ''] = one.split(' ')
		return { address: address as Address, amount }
	})
	texts.set(list, text)
	return list
}
