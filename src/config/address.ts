import * as OxAddress from 'ox/Address'
import * as OxHash from 'ox/Hash'
import { counted } from '../base/text/counted.js'
import type { Address } from '../model/glossary.js'

/** The EIP-55 spelling of an address. */
export function toChecksum(address: Address): string {
	return OxAddress.checksum(address)
}

/**
 * Reads an address as a person wrote it: all lower case, all upper case, or mixed case with the right
 * checksum: EIP-55, or on Rootstock (chains 30 and 31) EIP-1191. Null: a chain that is not known.
 *
 * @throws RangeError whose message follows after the key's name. For a wrong checksum it gives the right spelling.
 */
export function parseAddress(text: string, chainId: number | null = null): Address {
	if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new RangeError(`must be an address: ${whyNot(text)}`)
	const digits = text.slice(2)
	const lower = digits.toLowerCase()
	const address: Address = `0x${lower}`
	if (digits === lower || digits === digits.toUpperCase()) return address
	const chains = [30, 31].filter((chain) => chainId === chain || chainId === null)
	if (!isChecksum(digits, lower) && !chains.some((chain) => isChecksum(digits, `${chain}0x${lower}`)))
		throw new RangeError(`has a wrong checksum: if no digit is mistyped, write ${toChecksum(address)}`)
	return address
}

/**
 * Checks the checksum: a letter is a capital where its hex digit in the hash of the lower case text is 8 or more. Of
 * EIP-1191 the chain and 0x stand before that text. It only compares, because writing the right spelling, as
 * `toChecksum` does, takes twice as long, which counts in files of many thousand addresses.
 */
function isChecksum(digits: string, hashed: string): boolean {
	const hash = OxHash.keccak256(Buffer.from(hashed, 'latin1'), { as: 'Bytes' })
	for (let index = 0; index < digits.length; index++) {
		const code = digits.charCodeAt(index)
		if (code < 0x41) continue
		const byte = hash[index >> 1] ?? 0
		const isLarge = (index % 2 === 0 ? byte >> 4 : byte & 15) >= 8
		if (isLarge !== code < 0x61) return false
	}
	return true
}

/**
 * Says why a text is no address. Never repeats the text, since a wrong file (of passwords, of private keys) may have
 * been named; shows at most `0x` and the first 6 hex digits.
 */
function whyNot(text: string): string {
	if (text.length <= 255 && /^[\w-]+(\.[\w-]+)*\.eth$/i.test(text))
		return 'names are not resolved; write the 0x address'
	if (!text.startsWith('0x')) return 'this does not begin with 0x, and an address is 0x and 40 hex digits'
	const beginning = `\`${/^0x[0-9a-f]{0,6}/i.exec(text)?.[0]}…\``
	const digits = text.slice(2)
	const at = digits.search(/[^0-9a-fA-F]/)
	if (digits.length === 64 && at === -1) return `${beginning} has 64 hex digits, as a private key or a hash has, not 40`
	if (at === -1) return `${beginning} has ${counted(digits.length, 'hex digit')} after 0x, not 40`
	return `character ${at + 3} of ${beginning} is not a hex digit`
}
