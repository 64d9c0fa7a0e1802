import { expect, test } from 'vitest'
import { revertReason } from '../../../src/chain/wire/revertReason.js'

const word = (n: number) => n.toString(16).padStart(64, '0')
const textOf = (text: string) => {
	const bytes = Buffer.from(text)
	const padded = Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)])
	return `0x08c379a0${word(32)}${word(bytes.length)}${padded.toString('hex')}` as const
}

test.each([
	['a text', textOf('not enough'), '"not enough"'],
	['a text without its controls', textOf('a\u001b[2Jb\u202ec'), '"a[2Jbc"'],
	['a panic', `0x4e487b71${word(0x11)}`, 'panic 17: arithmetic overflow'],
	['an unknown panic', `0x4e487b71${word(0x77)}`, 'panic 119: unknown to Solidity'],
	['a custom error', '0x12345678', 'custom error 0x12345678'],
	['a custom error with data', `0x12345678${word(1)}`, 'custom error 0x12345678 with 32 bytes'],
	['what only begins like a text', '0x08c379a000', 'custom error 0x08c379a0 with 1 bytes'],
	['nothing', '0x', null],
] as const)('%s', (_, data, words) => {
	expect(revertReason(data)).toBe(words)
})
