/** The contracts of the demo and the tests, and their addresses. */
import { fromCreate, fromCreate2 } from 'ox/ContractAddress'
import type { Address, Hex } from '../model/glossary.js'
import { actionCodes, layout } from './actions.js'
import { assemble } from './assembler.js'

const { data, gas, target, value, length } = layout

/** Code that reads a field of the action at `p`; DUP<n> copies `p`. */
const readTarget = (dup: string) => `${dup} ${target} ADD CALLDATALOAD 96 SHR`
const readValue = (dup: string) => `${dup} ${value} ADD CALLDATALOAD 128 SHR`
/** 0 means all remaining gas. */
const readGas = (dup: string) => `${dup} ${gas} ADD CALLDATALOAD 224 SHR DUP1 ISZERO GAS MUL ADD`
const on = (action: keyof typeof actionCodes) => `DUP1 ${actionCodes[action]} EQ @${action} JUMPI`

/**
 * The puppet accepts payments and performs the actions in its calldata in order (see `actions.ts`). Stack before each
 * step: `p` is the offset of the action in the calldata, `n` the length of its data, which is at memory 0.
 */
export const puppetCode = assemble(`
	0
	next:          DUP1 CALLDATASIZE GT ISZERO @end JUMPI
	               DUP1 ${length} ADD CALLDATALOAD 232 SHR
	               DUP1 DUP3 ${data} ADD 0 CALLDATACOPY
	               DUP2 CALLDATALOAD 248 SHR
	               ${on('call')} ${on('callcode')} ${on('delegatecall')} ${on('staticcall')}
	               ${on('create')} ${on('create2')} ${on('selfdestruct')} ${on('revert')} ${on('burn')}
	               INVALID
	call:          POP 0 0 DUP3 0 ${readValue('DUP6')} ${readTarget('DUP7')} ${readGas('DUP8')} CALL @done JUMP
	callcode:      POP 0 0 DUP3 0 ${readValue('DUP6')} ${readTarget('DUP7')} ${readGas('DUP8')} CALLCODE @done JUMP
	delegatecall:  POP 0 0 DUP3 0 ${readTarget('DUP6')} ${readGas('DUP7')} DELEGATECALL @done JUMP
	staticcall:    POP 0 0 DUP3 0 ${readTarget('DUP6')} ${readGas('DUP7')} STATICCALL @done JUMP
	create:        POP DUP1 0 ${readValue('DUP4')} CREATE @done JUMP
	create2:       POP ${readTarget('DUP2')} DUP2 0 ${readValue('DUP5')} CREATE2 @done JUMP
	selfdestruct:  POP ${readTarget('DUP2')} SELFDESTRUCT
	burn:          @burn JUMP
	done:          ISZERO DUP3 CALLDATALOAD 1 BYTE AND @revert JUMPI
	               ADD ${data} ADD @next JUMP
	revert:        0 0 REVERT
	end:           STOP
`)

/** Init code that deploys `code`: it returns the bytes behind itself. */
export function initOf(code: Hex): Hex {
	const size = (code.length - 2) / 2
	// Offsets are always written with four digits, so that the length of the head is fixed.
	const word = (number: number) => `0x${number.toString(16).padStart(4, '0')}`
	const head = (codeAt: number) => assemble(`${word(size)} ${word(codeAt)} 0 CODECOPY ${word(size)} 0 RETURN`)
	const codeAt = (head(0).length - 2) / 2
	return `${head(codeAt)}${code.slice(2)}`
}

/** Init code that deploys a puppet. */
export const puppetInit = initOf(puppetCode)

/** The address of a contract made by CREATE. Nonces start at 0 for accounts and at 1 for contracts. */
export function createAddress(from: Address, nonce: bigint): Address {
	return fromCreate({ from, nonce }).toLowerCase() as Address
}

/** The address of a contract made by CREATE2; `salt` is a number of at most 32 bytes. */
export function create2Address(from: Address, salt: bigint, init: Hex): Address {
	const word = `0x${salt.toString(16).padStart(64, '0')}` as const
	return fromCreate2({ from, salt: word, bytecode: init }).toLowerCase() as Address
}
