// Small real tokens, assembled by hand: each keeps its books in storage and logs what its standard says. Variables
// stand in memory; what is pushed last is what an opcode takes first.

import { keccak256 } from 'ox/Hash'
import { fromString } from 'ox/Hex'
import type { Address, Hash, Hex } from '../../src/model/glossary.js'
import { assemble, initOf } from './assembler.js'

const signed = (signature: string): Hash => keccak256(fromString(signature))
const selector = (signature: string): Hex => `0x${signed(signature).slice(2, 10)}`

export const signatures = {
	transfer: signed('Transfer(address,address,uint256)'),
	single: signed('TransferSingle(address,address,address,uint256,uint256)'),
	batch: signed('TransferBatch(address,address,address,uint256[],uint256[])'),
	deposit: signed('Deposit(address,uint256)'),
	withdrawal: signed('Withdrawal(address,uint256)'),
} as const

/** Calldata: words may be addresses or numbers. */
export function callOf(signature: string, ...args: readonly (bigint | Address)[]): Hex {
	return `${selector(signature)}${args.map(wordOf).join('')}`
}

export function wordOf(value: bigint | Address): string {
	return (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
}

const places = { from: 0x200, to: 0x220, amount: 0x240, id: 0x260, fee: 0x280, amount2: 0x2a0, id2: 0x2c0, key: 0x2e0 }
type Name = keyof typeof places
const get = (name: Name) => `${places[name]} MLOAD`
/** From the top of the stack. */
const set = (name: Name) => `${places[name]} MSTORE`
const arg = (at: number) => `${4 + 32 * at} CALLDATALOAD`
const on = (signature: string, place: string) => `DUP1 ${selector(signature)} EQ @${place} JUMPI`
const begin = '0 CALLDATALOAD 224 SHR'
const yes = '1 0 MSTORE 32 0 RETURN'
const answer = (value: string) => `${value} 0 MSTORE 32 0 RETURN`

/** Balance in storage at the key that `key` leaves on the stack. */
const debit = (key: string, amount: Name) => `
	${get(amount)} ${key} SLOAD LT @fail JUMPI
	${get(amount)} ${key} SLOAD SUB ${key} SSTORE`
const credit = (key: string, amount: Name) => `${get(amount)} ${key} SLOAD ADD ${key} SSTORE`
const transferLog = (to: string, amount: Name) =>
	`${get(amount)} 0 MSTORE ${to} ${get('from')} ${signatures.transfer} 32 0 LOG3`

/** At most 32 bytes in UTF-8. */
const words = (symbol: string, decimals: number) => `
	symbol:   32 0 MSTORE ${Buffer.byteLength(symbol)} 32 MSTORE
	          0x${Buffer.concat([Buffer.from(symbol), Buffer.alloc(32)])
							.subarray(0, 32)
							.toString('hex')} 64 MSTORE 96 0 RETURN
	decimals: ${answer(String(decimals))}`
const asksWords = `${on('symbol()', 'symbol')} ${on('decimals()', 'decimals')}`

/**
 * ERC-20; anybody may move anybody's tokens, as if each had approved all. `feeTo`: a hundredth of each transfer goes
 * there, and two transfers are logged.
 */
export function erc20(symbol: string, decimals: number, feeTo?: Address): Hex {
	const fee =
		feeTo === undefined
			? ''
			: `100 ${get('amount')} DIV ${set('fee')} ${get('fee')} ${get('amount')} SUB ${set('amount')}
			   ${credit(feeTo, 'fee')} ${transferLog(feeTo, 'fee')}`
	return initOf(
		assemble(`
	           ${begin}
	           ${on('transfer(address,uint256)', 'transfer')} ${on('transferFrom(address,address,uint256)', 'from')}
	           ${on('mint(address,uint256)', 'mint')} ${on('burn(uint256)', 'burn')}
	           ${on('balanceOf(address)', 'balance')} ${asksWords}
	fail:      0 0 REVERT
	transfer:  CALLER ${set('from')} ${arg(0)} ${set('to')} ${arg(1)} ${set('amount')} @move JUMP
	from:      ${arg(0)} ${set('from')} ${arg(1)} ${set('to')} ${arg(2)} ${set('amount')} @move JUMP
	burn:      CALLER ${set('from')} ${arg(0)} ${set('amount')} @move JUMP
	mint:      ${arg(0)} ${set('to')} ${arg(1)} ${set('amount')} @credit JUMP
	move:      ${debit(get('from'), 'amount')} ${fee}
	credit:    ${credit(get('to'), 'amount')} ${transferLog(get('to'), 'amount')} ${yes}
	balance:   ${answer(`${arg(0)} SLOAD`)}
	           ${words(symbol, decimals)}`),
	)
}

/** ERC-721, or (`indexed` false) the old kind that indexes nothing. Owners stand in storage by number. */
export function erc721({ indexed = true } = {}): Hex {
	const log = indexed
		? `${get('id')} ${get('to')} ${get('from')} ${signatures.transfer} 0 0 LOG4`
		: `${get('from')} 0 MSTORE ${get('to')} 32 MSTORE ${get('id')} 64 MSTORE ${signatures.transfer} 96 0 LOG1`
	return initOf(
		assemble(`
	           ${begin} ${on('transferFrom(address,address,uint256)', 'from')} ${on('ownerOf(uint256)', 'owner')}
	fail:      0 0 REVERT
	from:      ${arg(0)} ${set('from')} ${arg(1)} ${set('to')} ${arg(2)} ${set('id')}
	           ${get('from')} ${get('id')} SLOAD EQ ISZERO @fail JUMPI
	           ${get('to')} ${get('id')} SSTORE ${log} ${yes}
	owner:     ${answer(`${arg(0)} SLOAD`)}`),
	)
}

/** ERC-1155: one at a time, or two in a batch; from no one they are made. */
export function erc1155(): Hex {
	const key = (who: Name, id: Name) => `${get(who)} 0 MSTORE ${get(id)} 32 MSTORE 64 0 KECCAK256`
	const move = (id: Name, amount: Name, made: string) => `
	           ${get('from')} ISZERO @${made} JUMPI ${debit(key('from', id), amount)}
	${made}:   ${credit(key('to', id), amount)}`
	return initOf(
		assemble(`
	           ${begin} ${on('move(address,address,uint256,uint256)', 'single')}
	           ${on('moveTwo(address,address,uint256,uint256,uint256,uint256)', 'two')}
	           ${on('balanceOf(address,uint256)', 'balance')}
	fail:      0 0 REVERT
	single:    ${arg(0)} ${set('from')} ${arg(1)} ${set('to')} ${arg(2)} ${set('id')} ${arg(3)} ${set('amount')}
	           ${move('id', 'amount', 'made')}
	           ${get('id')} 0 MSTORE ${get('amount')} 32 MSTORE
	           ${get('to')} ${get('from')} CALLER ${signatures.single} 64 0 LOG4 ${yes}
	two:       ${arg(0)} ${set('from')} ${arg(1)} ${set('to')} ${arg(2)} ${set('id')} ${arg(3)} ${set('amount')}
	           ${arg(4)} ${set('id2')} ${arg(5)} ${set('amount2')}
	           ${move('id', 'amount', 'made1')} ${move('id2', 'amount2', 'made2')}
	           64 0 MSTORE 160 32 MSTORE 2 64 MSTORE ${get('id')} 96 MSTORE ${get('id2')} 128 MSTORE
	           2 160 MSTORE ${get('amount')} 192 MSTORE ${get('amount2')} 224 MSTORE
	           ${get('to')} ${get('from')} CALLER ${signatures.batch} 256 0 LOG4 ${yes}
	balance:   ${arg(0)} ${set('from')} ${arg(1)} ${set('id')} ${answer(`${key('from', 'id')} SLOAD`)}`),
	)
}

/** Wraps the chain's coin, and logs deposits and withdrawals only, as WETH9 does. */
export function wrapped(symbol: string): Hex {
	const log = (signature: Hash) => `${get('amount')} 0 MSTORE CALLER ${signature} 32 0 LOG2`
	return initOf(
		assemble(`
	           ${begin} ${on('deposit()', 'deposit')} ${on('withdraw(uint256)', 'withdraw')}
	           ${on('transfer(address,uint256)', 'transfer')} ${on('balanceOf(address)', 'balance')} ${asksWords}
	fail:      0 0 REVERT
	deposit:   CALLVALUE ${set('amount')} ${credit('CALLER', 'amount')} ${log(signatures.deposit)} ${yes}
	withdraw:  ${arg(0)} ${set('amount')} ${debit('CALLER', 'amount')} ${log(signatures.withdrawal)}
	           0 0 0 0 ${get('amount')} CALLER GAS CALL ISZERO @fail JUMPI ${yes}
	transfer:  CALLER ${set('from')} ${arg(0)} ${set('to')} ${arg(1)} ${set('amount')}
	           ${debit(get('from'), 'amount')} ${credit(get('to'), 'amount')}
	           ${transferLog(get('to'), 'amount')} ${yes}
	balance:   ${answer(`${arg(0)} SLOAD`)}
	           ${words(symbol, 18)}`),
	)
}

/**
 * Logs whatever it is told to, and moves nothing: calldata is the number of topics (a byte), the topics, and the data.
 */
export function liar(): Hex {
	const topic = (at: number) => `${1 + 32 * at} CALLDATALOAD`
	const log = (topics: number) => `
	log${topics}: ${1 + 32 * topics} CALLDATASIZE SUB ${set('amount')}
	           ${get('amount')} ${1 + 32 * topics} 0 CALLDATACOPY
	           ${Array.from({ length: topics }, (_, at) => topic(topics - 1 - at)).join(' ')}
	           ${get('amount')} 0 LOG${topics} STOP`
	return initOf(
		assemble(`
	           0 CALLDATALOAD 248 SHR
	           ${[0, 1, 2, 3, 4].map((topics) => `DUP1 ${topics} EQ @log${topics} JUMPI`).join(' ')}
	           0 0 REVERT
	           ${[0, 1, 2, 3, 4].map(log).join('\n')}`),
	)
}

export function lie(topics: readonly Hex[], data: Hex = '0x'): Hex {
	const words = topics.map((topic) => topic.slice(2)).join('')
	return `0x${topics.length.toString(16).padStart(2, '0')}${words}${data.slice(2)}`
}

/** Logs so many transfers from its caller to an address; calldata: how many, to whom. */
export function flood(): Hex {
	return initOf(
		assemble(`
	          0 CALLDATALOAD 0x40 MSTORE
	again:    0x40 MLOAD ISZERO @end JUMPI
	          0x40 MLOAD 0 MSTORE 32 CALLDATALOAD CALLER ${signatures.transfer} 32 0 LOG3
	          1 0x40 MLOAD SUB 0x40 MSTORE @again JUMP
	end:      STOP`),
	)
}
