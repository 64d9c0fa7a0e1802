import * as OxAddress from 'ox/Address'
import * as OxHash from 'ox/Hash'
import { quoted } from '../base/quoted.js'
import type { Address } from '../model/glossary.js'

/** The EIP-55 spelling of an address. */
export function toChecksum(address: Address): string {
	return OxAddress.checksum(address)
}

/**
 * Reads an address as a person wrote it: all lower case, all upper case, or mixed case with the right EIP-55 checksum.
 *
 * @throws RangeError that goes on after the key's name; for a wrong checksum it gives the right spelling.
 */
export function parseAddress(text: string): Address {
	if (!/^0x[0-9a-fA-F]{40}$/.test(text))
		throw new RangeError(`must be an address, and ${quoted(text)} is none: ${whyNot(text)}`)
	const digits = text.slice(2)
	const lower = digits.toLowerCase()
	const address: Address = `0x${lower}`
	if (digits === lower || digits === digits.toUpperCase()) return address
	if (!isChecksum(digits, lower))
		throw new RangeError(`has a wrong checksum: if no digit is mistyped, write ${toChecksum(address)}`)
	return address
}

/**
 * Whether a letter is large where its hex digit in the hash of the lower case text is 8 or more (EIP-55). Only compares:
 * to spell the right one, as `toChecksum` does, takes twice as long, which counts in files of many thousand.
 */
function isChecksum(digits: string, lower: string): boolean {
	const hash = OxHash.keccak256(Buffer.from(lower, 'latin1'), { as: 'Bytes' })
	for (let index = 0; index < digits.length; index++) {
		const code = digits.charCodeAt(index)
		if (code < 0x41) continue
		const byte = hash[index >> 1] ?? 0
		const isLarge = (index % 2 === 0 ? byte >> 4 : byte & 15) >= 8
		if (isLarge !== code < 0x61) return false
	}
	return true
}

function whyNot(text: string): string {
	if (/\.eth$/i.test(text)) return 'names are not resolved; write the 0x address'
	if (/^[0-9a-fA-F]{40}$/.test(text)) return 'put 0x before it'
	if (/^0X/.test(text)) return 'write a small x: 0x'
	const digits = text.replace(/^0x/, '')
	if (!text.startsWith('0x')) return 'it begins with 0x and has 40 hex digits'
	const stranger = /[^0-9a-fA-F]/u.exec(digits)
	if (stranger !== null) return `${quoted(stranger[0])} is not a hex digit`
	return `it has ${digits.length === 1 ? '1 hex digit' : `${digits.length} hex digits`} after 0x, not 40`
}
