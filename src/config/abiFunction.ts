import { from, getSelector } from 'ox/AbiFunction'
import { getSignature } from 'ox/AbiItem'
import { quoted } from '../base/text/quoted.js'
import type { AbiInput, WatchedFunction } from '../model/abi.js'

export interface CalledFunction extends WatchedFunction {
	readonly selector: string
}

/** Reads a selector, or a signature, which may name the arguments: `sweep(address to)`. Throws RangeError. */
export function readCalledFunction(written: string): CalledFunction {
	const text = written.trim()
	if (/^0x[0-9a-f]{8}$/i.test(text)) return { selector: text.toLowerCase(), signature: null, inputs: null }
	if (!text.includes('('))
		throw new RangeError(`must be a signature such as pause() or a selector such as 0x8456cb59, not ${quoted(text)}`)
	const name = text.replace(/^function /, '')
	try {
		const item = from(`function ${name}` as 'function pause()')
		return { selector: getSelector(item), signature: getSignature(item), inputs: item.inputs as readonly AbiInput[] }
	} catch {
		throw new RangeError(`must be a function such as pause() or transferOwnership(address), not ${quoted(name)}`)
	}
}
