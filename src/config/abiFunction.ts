import { from, getSelector } from 'ox/AbiFunction'
import { getSignature } from 'ox/AbiItem'
import { quoted } from '../base/text/quoted.js'
import type { AbiInput } from '../model/abi.js'

/** Reads a function as Solidity writes it: `function pause()`. Throws RangeError. */
export function readFunction(form: string) {
	try {
		const item = from(form as 'function pause()')
		const signature = getSignature(item)
		return { selector: getSelector(item) as string, signature, inputs: item.inputs as readonly AbiInput[] }
	} catch {
		const what = quoted(form.replace(/^function /, ''))
		throw new RangeError(`must be a function such as pause() or transferOwnership(address), not ${what}`)
	}
}
