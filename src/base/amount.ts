/**
 * The room `base` holds small helpers, one a file, that several rooms need. It imports no other room. This file:
 * converts amounts between the text that people write and wei. Both directions are exact; no float is involved.
 */

import { quoted } from './text/quoted.js'

/** Decimals of the units that are the same on every network. */
const fixedUnits: Readonly<Record<string, number>> = { wei: 0, kwei: 3, mwei: 6, gwei: 9, ether: 18 }

/** 2^256 wei has 78 digits. */
const longest = 200

const amountPattern = /^(\d+)(?:\.(\d+))?(?:\s*([A-Za-z]+)|\s+([A-Za-z]\S*))?$/

/**
 * Reads `0.5` (whole coins of `decimals` digits), `250 gwei`, `1 wei`, `0.5 ether`, or a number followed by `symbol`.
 *
 * @throws RangeError with a sentence for the user. Digits are never rounded away: too many are an error.
 */
export function parseAmount(text: string, decimals: number, symbol?: string): bigint {
	if (text.length > longest) throw new RangeError(`an amount has at most ${longest} characters`)
	const match = amountPattern.exec(text.trim())
	if (match === null) throw new RangeError(`${quoted(text)} is not an amount; ${hint(text)}`)
	const [, whole = '', fraction = '', word, symbolic] = match
	const unit = word ?? symbolic
	const inCoins = unit === undefined || unit.toLowerCase() === symbol?.toLowerCase()
	const digits = inCoins ? decimals : fixedUnits[unit.toLowerCase()]
	if (digits === undefined) {
		const units = [...Object.keys(fixedUnits), ...(symbol === undefined ? [] : [symbol])]
		throw new RangeError(`\`${unit}\` is not a unit of amounts; there are ${units.join(', ')}`)
	}
	const significant = fraction.replace(/0+$/, '')
	if (significant.length > digits) {
		const name = unit === undefined ? 'this coin' : unit
		const has = digits === 0 ? 'no digits' : digits === 1 ? 'one digit' : `${digits} digits`
		throw new RangeError(`${quoted(text)} is finer than one wei: ${name} has ${has} after the point`)
	}
	return BigInt(whole + significant.padEnd(digits, '0'))
}

/** `1500000000000000000n` with 18 decimals is `1.5`. Exact, without an exponent and without trailing zeros. */
export function formatAmount(wei: bigint, decimals: number): string {
	const sign = wei < 0n ? '-' : ''
	const digits = (wei < 0n ? -wei : wei).toString().padStart(decimals + 1, '0')
	const point = digits.length - decimals
	const fraction = digits.slice(point).replace(/0+$/, '')
	return `${sign}${digits.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`
}

function hint(text: string): string {
	if (/^-/.test(text.trim())) return 'it cannot be negative'
	if (/^\d+,\d+ ?[A-Za-z]{0,8}$/.test(text.trim())) return `write a point: ${text.trim().replace(',', '.')}`
	if (/^[\d.]+e[+-]?\d+$/i.test(text.trim())) return 'write all its digits, without an exponent'
	if (/^0x/i.test(text.trim())) return 'write it in decimal digits'
	return 'write whole coins such as 0.5, or a unit: 250 gwei, 1 wei'
}
