/** The reason that a failed call returned: `Error(string)` and `Panic(uint256)` of Solidity, or the bare data. */
import { decode, from as errorFrom } from 'ox/AbiError'
import { printable } from '../../base/text/printable.js'
import type { Hex } from '../../model/glossary.js'

const errorString = errorFrom('error Error(string)')
const panic = errorFrom('error Panic(uint256)')

/** Solidity's panic codes (docs.soliditylang.org, "Panic via assert and Error via require"). */
const panics: Readonly<Record<string, string>> = {
	'1': 'an assertion failed',
	'17': 'arithmetic overflow',
	'18': 'division by zero',
	'33': 'a value that its enum does not have',
	'34': 'storage byte array that is encoded wrongly',
	'49': 'pop of an empty array',
	'50': 'index out of bounds',
	'65': 'too much memory',
	'81': 'call of an uninitialised function',
}

/** In words; null for empty data. A contract's text is cleaned by `printable`, at most 300 characters. */
export function revertReason(data: Hex): string | null {
	if (data === '0x') return null
	try {
		if (data.startsWith('0x08c379a0')) return `"${printable(String(decode(errorString, data)), 300)}"`
		if (data.startsWith('0x4e487b71')) {
			const code = String(decode(panic, data))
			return `panic ${code}: ${panics[code] ?? 'unknown to Solidity'}`
		}
	} catch {
		// Data that only begins like one of the two.
	}
	const selector = data.slice(0, 10)
	return data.length > 10 ? `custom error ${selector} with ${(data.length - 10) / 2} bytes` : `custom error ${selector}`
}
