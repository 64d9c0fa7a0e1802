import { quoted } from '../../base/text/quoted.js'
import type { KnownFunctions, WatchedCalls, WatchedFunction } from '../../model/abi.js'
import { readFunction } from '../abiFunction.js'
import { suggestion } from '../words.js'

/** The result of reading `calls` of a watch. The `index` of a fault is its position in the list. */
export interface CallsRead {
	/** Null: `calls` is not set. */
	readonly functions: WatchedCalls['functions'] | null
	readonly faults: readonly { readonly index: number; readonly message: string }[]
}

/** `abi` null: the network's ABI files are unknown, and names are not checked. */
export function readCallChoice(written: readonly string[] | null, abi: KnownFunctions | null): CallsRead {
	if (written === null) return { functions: null, faults: [] }
	const functions = new Map<string, WatchedFunction>()
	const faults: { index: number; message: string }[] = []
	for (const [index, one] of written.entries()) {
		try {
			for (const [selector, found] of functionsOf(one.trim(), abi)) functions.set(selector, found)
		} catch (error) {
			if (!(error instanceof RangeError)) throw error
			faults.push({ index, message: `an entry of \`calls\` ${error.message}` })
		}
	}
	return { functions, faults }
}

/** By signature, selector, or the name of functions in the ABI files; those give the names of the arguments. */
function functionsOf(text: string, abi: KnownFunctions | null): readonly (readonly [string, WatchedFunction])[] {
	if (/^0x[0-9a-f]{8}$/i.test(text)) {
		const selector = text.toLowerCase()
		return [[selector, abi?.get(selector) ?? { signature: null, inputs: null }]]
	}
	if (text.includes('(')) {
		const { selector, signature, inputs } = readFunction(`function ${text.replace(/^function /, '')}`)
		return [[selector, abi?.get(selector) ?? { signature, inputs }]]
	}
	const named = [...(abi ?? [])].filter(([, { name }]) => name === text)
	if (named.length > 0 || abi === null) return named
	const names = [...new Set([...abi.values()].map(({ name }) => name))]
	const hint = names.length === 0 ? '; the network has no `abi` files' : suggestion(text, names)
	throw new RangeError(`is no signature, no selector and no function of the ABI files: ${quoted(text)}${hint}`)
}
