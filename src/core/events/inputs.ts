/** Decides of which calls the input is kept: inputs are the largest part of a trace, and few of them are needed. */

import { requestContracts } from '../../kinds/request.js'
import type { CalledFunctions } from '../../model/chain.js'
import type { Address } from '../../model/glossary.js'

/** Longest input that is kept whole, in characters: 16 KiB of data. */
export const longestInput = 2 + 2 * 16_384
/** Longest beginning of other inputs: whole for each request to the consensus layer. */
const longestBeginning = 2 + 2 * 96
/** Ends an input that was cut. */
export const cutMark = '…'

/** Whether the input of a call is kept. The parties are as the answer has them, in any form. */
export function isInputRead(from: unknown, to: unknown, calls: CalledFunctions | undefined): boolean {
	return isOne(to, requestContracts) || (calls !== undefined && (isOne(to, calls) || isOne(from, calls)))
}

function isOne(party: unknown, addresses: { has(address: Address): boolean }): boolean {
	return typeof party === 'string' && party.length === 42 && addresses.has(party.toLowerCase() as Address)
}

/** An input, or its beginning with a mark at its end. */
export function cutInput(input: string, longest = longestBeginning): string {
	// A copy: a slice would keep the whole text in memory.
	return input.length <= longest ? input : Buffer.from(`${input.slice(0, longest)}${cutMark}`).toString()
}
