/** Assembles EVM bytecode from words, so that tests need no compiler. */
import type { Hex } from '../../src/model/glossary.js'

const opcodes = {
	STOP: 0x00,
	ADD: 0x01,
	MUL: 0x02,
	SUB: 0x03,
	DIV: 0x04,
	LT: 0x10,
	GT: 0x11,
	EQ: 0x14,
	ISZERO: 0x15,
	AND: 0x16,
	BYTE: 0x1a,
	SHR: 0x1c,
	KECCAK256: 0x20,
	BALANCE: 0x31,
	CALLER: 0x33,
	CALLVALUE: 0x34,
	CALLDATALOAD: 0x35,
	CALLDATASIZE: 0x36,
	CALLDATACOPY: 0x37,
	CODECOPY: 0x39,
	RETURNDATASIZE: 0x3d,
	RETURNDATACOPY: 0x3e,
	NUMBER: 0x43,
	POP: 0x50,
	MLOAD: 0x51,
	MSTORE: 0x52,
	SLOAD: 0x54,
	SSTORE: 0x55,
	JUMP: 0x56,
	JUMPI: 0x57,
	GAS: 0x5a,
	JUMPDEST: 0x5b,
	DUP1: 0x80,
	DUP2: 0x81,
	DUP3: 0x82,
	DUP4: 0x83,
	DUP5: 0x84,
	DUP6: 0x85,
	DUP7: 0x86,
	DUP8: 0x87,
	DUP9: 0x88,
	SWAP1: 0x90,
	LOG0: 0xa0,
	LOG1: 0xa1,
	LOG2: 0xa2,
	LOG3: 0xa3,
	LOG4: 0xa4,
	CREATE: 0xf0,
	CALL: 0xf1,
	CALLCODE: 0xf2,
	RETURN: 0xf3,
	DELEGATECALL: 0xf4,
	CREATE2: 0xf5,
	STATICCALL: 0xfa,
	REVERT: 0xfd,
	INVALID: 0xfe,
	SELFDESTRUCT: 0xff,
} as const

/**
 * Turns a program into bytecode. Words are separated by white space: an opcode's name; `name:` marks a jump
 * destination; `@name` pushes that destination (two bytes); `0x…` pushes these bytes; a decimal number pushes the
 * fewest bytes that hold it.
 * @throws Error for an unknown word or destination.
 */
export function assemble(program: string): Hex {
	const bytes: number[] = []
	const places = new Map<string, number>()
	const holes: { readonly at: number; readonly name: string }[] = []
	for (const word of program.split(/\s+/).filter((word) => word !== '')) {
		if (word in opcodes) bytes.push(opcodes[word as keyof typeof opcodes])
		else if (word.endsWith(':')) {
			places.set(word.slice(0, -1), bytes.length)
			bytes.push(opcodes.JUMPDEST)
		} else if (word.startsWith('@')) {
			bytes.push(pushOpcode(2), 0, 0)
			holes.push({ at: bytes.length - 2, name: word.slice(1) })
		} else if (word.startsWith('0x')) push(bytes, word.slice(2))
		else if (/^\d+$/.test(word)) push(bytes, BigInt(word).toString(16))
		else throw new Error(`no such opcode: ${word}`)
	}
	for (const { at, name } of holes) {
		const place = places.get(name)
		if (place === undefined) throw new Error(`no such place: ${name}`)
		bytes[at] = place >> 8
		bytes[at + 1] = place & 0xff
	}
	return `0x${Buffer.from(bytes).toString('hex')}`
}

/** Init code that deploys `code`: it returns the bytes behind itself. */
export function initOf(code: Hex): Hex {
	const size = (code.length - 2) / 2
	// Offsets are always written with four digits, so that the length of the head is fixed.
	const word = (number: number) => `0x${number.toString(16).padStart(4, '0')}`
	const head = (codeAt: number) => assemble(`${word(size)} ${word(codeAt)} 0 CODECOPY ${word(size)} 0 RETURN`)
	const codeAt = (head(0).length - 2) / 2
	return `${head(codeAt)}${code.slice(2)}`
}

/** PUSH1 is 0x60; the opcode determines the number of bytes. */
function pushOpcode(size: number): number {
	return 0x5f + size
}

function push(bytes: number[], digits: string) {
	const value = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
	bytes.push(pushOpcode(value.length), ...value)
}
