import { quoted } from '../../base/text/quoted.js'
import type { WatchedCalls, WatchedFunction } from '../../model/abi.js'
import { readFunction } from '../abiFunction.js'

/** The result of reading `calls` of a watch. The `index` of a fault is its position in the list. */
export interface CallsRead {
	/** Null: `calls` is not set. */
	readonly functions: WatchedCalls['functions'] | null
	readonly faults: readonly { readonly index: number; readonly message: string }[]
}

export function readCallChoice(written: readonly string[] | null): CallsRead {
	if (written === null) return { functions: null, faults: [] }
	const functions = new Map<string, WatchedFunction>()
	const faults: { index: number; message: string }[] = []
	for (const [index, one] of written.entries()) {
		try {
			const { selector, ...found } = functionOf(one.trim())
			functions.set(selector, found)
		} catch (error) {
			if (!(error instanceof RangeError)) throw error
			faults.push({ index, message: `an entry of \`calls\` ${error.message}` })
		}
	}
	return { functions, faults }
}

/** By signature or selector. A signature may name the arguments. */
function functionOf(text: string): WatchedFunction & { readonly selector: string } {
	if (/^0x[0-9a-f]{8}$/i.test(text)) return { selector: text.toLowerCase(), signature: null, inputs: null }
	if (text.includes('(')) return readFunction(`function ${text.replace(/^function /, '')}`)
	throw new RangeError(`is no signature such as pause() and no selector such as 0x8456cb59: ${quoted(text)}`)
}
