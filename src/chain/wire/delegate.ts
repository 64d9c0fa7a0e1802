import type { Address } from '../../model/glossary.js'

/** 0xef0100 and the delegate: 23 bytes (EIP-7702). */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/i

/** The delegate of an account with this code; null where the code is no delegation. */
export function delegateIn(code: string): Address | null {
	const [, delegate] = DELEGATION.exec(code) ?? []
	return delegate === undefined ? null : (`0x${delegate.toLowerCase()}` as Address)
}
