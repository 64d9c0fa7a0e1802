// Init code that only tests deploy.

import type { Address, Hex } from '../../src/model/glossary.js'
import { assemble, initOf } from './assembler.js'
import { type Action, encodeActions, puppetCode } from './puppet.js'

/**
 * Deploys a puppet that does something while it is being created: the constructor borrows the code of `puppet`, which
 * must stand already, by delegatecall. A failure that bubbles fails the creation; a `selfdestruct` ends the call only.
 */
export function actingInit(puppet: Address, actions: readonly Action[]): Hex {
	const calldata = encodeActions(actions)
	return copyAndReturn(
		puppetCode,
		calldata,
		(at, size) => `
		${size} ${at} 0 CODECOPY
		0 0 ${size} 0 ${puppet} GAS DELEGATECALL @fine JUMPI 0 0 REVERT
		fine:`,
	)
}

/** Creations that fail, each in its own way, and one that succeeds and leaves an account without code. */
export const inits = {
	reverting: assemble('0 0 REVERT'),
	invalid: assemble('INVALID'),
	/** Code that starts with EF is refused since London (EIP-3541). */
	ef: initOf('0xef'),
	/** One byte above the 24,576 that EIP-170 allows. */
	oversized: assemble('24577 0 RETURN'),
	codeless: '0x' as Hex,
} as const

type Prologue = (at: string, size: string) => string

/** Init code: the prologue, then returns the code that lies behind it; behind that the prologue's data. */
function copyAndReturn(code: Hex, prologueData: Hex | '', prologue: Prologue = () => ''): Hex {
	const size = (code.length - 2) / 2
	const dataSize = prologueData === '' ? 0 : (prologueData.length - 2) / 2
	// Places are always written with four digits, so the length of the head does not depend on them.
	const word = (number: number) => `0x${number.toString(16).padStart(4, '0')}`
	const head = (codeAt: number) =>
		assemble(`${prologue(word(codeAt + size), word(dataSize))}
			${word(size)} ${word(codeAt)} 0 CODECOPY ${word(size)} 0 RETURN`)
	const codeAt = (head(0).length - 2) / 2
	return `${head(codeAt)}${code.slice(2)}${prologueData.slice(2)}`
}
