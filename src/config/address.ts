import * as OxAddress from 'ox/Address'
import type { Address } from '../model.js'
import { quoted } from './quoted.js'

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
	const right = toChecksum(address)
	if (text !== right) {
		throw new RangeError(`has a wrong checksum: if no digit is mistyped, write ${right}`)
	}
	return address
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
