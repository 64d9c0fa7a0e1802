// What Multicall3 does with `aggregate((address,bytes)[])` and `getEthBalance(address)`, assembled by hand; each call
// must return one word, as balances do. The notes show the stack, its top last.

import type { Address, Hex } from '../../src/model/glossary.js'
import { assemble } from './assembler.js'

/** Where it stands on most chains, by mds1/multicall. */
export const multicallAt: Address = '0xca11bde05977b3631167028862be2a173976ca11'

const program = `
	         0 CALLDATALOAD 224 SHR
	         DUP1 0x4d2301cc EQ @balance JUMPI
	         0x252dba42 EQ @aggregate JUMPI
	         0 0 REVERT
	balance: 4 CALLDATALOAD BALANCE 0 MSTORE 32 0 RETURN

	aggregate: NUMBER 0 MSTORE 64 32 MSTORE
	         36 CALLDATALOAD DUP1 64 MSTORE 0                          ; n i
	loop:    DUP2 DUP2 LT ISZERO @end JUMPI
	         DUP1 32 MUL 68 ADD CALLDATALOAD 68 ADD                    ; n i tuple
	         DUP1 32 ADD CALLDATALOAD DUP2 ADD                         ; n i tuple bytes
	         DUP4 96 MUL 96 ADD DUP2 CALLDATALOAD                      ; n i tuple bytes scratch length
	         DUP1 DUP4 32 ADD DUP4 CALLDATACOPY
	         32 DUP7 32 MUL DUP7 64 MUL ADD 128 ADD                    ; ... length 32 into
	         DUP3 DUP5 0 DUP9 CALLDATALOAD GAS CALL ISZERO @fail JUMPI
	         POP POP POP POP                                           ; n i
	         DUP2 32 MUL DUP2 64 MUL ADD                               ; n i offset
	         DUP1 DUP3 32 MUL 96 ADD MSTORE
	         32 SWAP1 96 ADD MSTORE
	         1 ADD @loop JUMP
	end:     POP 96 MUL 96 ADD 0 RETURN
	fail:    0 0 REVERT
`

export const multicallCode: Hex = assemble(program.replaceAll(/;.*/g, ''))
