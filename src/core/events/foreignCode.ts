/** Judges the code that watched contracts ran by delegatecall or callcode: what is their own, and what is reported. */

import * as Keccak from 'ox/Hash'
import type { TxTrace } from '../../model/chain.js'
import type { CodeFacts, LearntCode } from '../../model/contract.js'
import type { Address } from '../../model/glossary.js'
import { type BorrowedCode, borrowedCodeIn } from './borrowedCode.js'
import { isSame, type Level } from './calls.js'
import { traceText } from './events.js'
import { isSafeSingleton, knownLibrary } from './knownLibraries.js'

/** What is known about the contracts and codes of a transaction. */
export interface CodeKnowledge {
	/** Whether code that this contract runs is judged. */
	asks(contract: Address): boolean
	/** Code after the block; null: none. */
	codeAt(address: Address): CodeFacts | null
	/**
	 * Of an address without code after the block: the code that it had before or within it; null: it had code, or may
	 * have had some, and which is not known; undefined: it had none.
	 */
	goneAt(address: Address): CodeFacts | null | undefined
	/** Whether a place that holds the contract's own code is known: what else it forwards to is foreign. */
	hasPlace(contract: Address): boolean
	/** Whether the code stood in a place that rules the contract before the block, or an alert named it. */
	isInPlace(contract: Address, code: Address): boolean
	/** Singleton of a proved Safe; null: none. */
	singletonOf(contract: Address): Address | null
	/** Pairs of calling and called code that were reported, or are the first ones of a proxy. */
	learnt(contract: Address): readonly LearntCode[]
}

/** `place`, `constant`: ordinary. `library`: known. `forwarded`: by a proxy. `caller`: its choice. `pair`: others. */
export type CodeRule = 'place' | 'constant' | 'library' | 'forwarded' | 'caller' | 'pair'

export interface JudgedCode extends BorrowedCode {
	readonly rule: CodeRule
	readonly isReported: boolean
	/** Null: not known. */
	readonly facts: CodeFacts | null
	/** Name of a known library. */
	readonly name: string | null
	/** The pair to remember; null: none. */
	readonly learns: LearntCode | null
}

/** Sorted: the first code of each contract, then code that the caller chose; a stranger can name thousands. */
export function codesNeeded(tx: TxTrace, asks: (contract: Address) => boolean): ReadonlySet<Address> {
	const ranks: [Address[], Address[], Address[]] = [[], [], []]
	const seen = new Set<Address>()
	for (const { contract, caller, code, chosenBy } of borrowedCodeIn(tx)) {
		if (!asks(contract)) continue
		const isChosen = chosenBy === 'caller' || chosenBy === 'unknown'
		ranks[seen.has(contract) ? (isChosen ? 1 : 2) : 0].push(caller, code)
		seen.add(contract)
	}
	return new Set(ranks.flat())
}

/**
 * The code that watched contracts ran, in the order of the trace, each judged by the first rule that fits. Left out:
 * what ran in the transaction that created the contract, and calls to addresses without code, at which nothing ran.
 */
export function* judgeCode(tx: TxTrace, known: CodeKnowledge): Generator<JudgedCode> {
	const created = createdIn(tx)
	const destroyed = destroyedIn(tx)
	const callers = new Set(tx.frames.map(({ traceAddress }) => traceText(traceAddress.slice(0, -1))))
	/** Levels that run ordinary code of their contract. */
	const ordinary = new WeakSet<Level>()
	/** Pairs that this transaction adds. */
	const added = new Map<Address, LearntCode[]>()
	for (const one of borrowedCodeIn(tx)) {
		const { contract, code, caller, level, above } = one
		if (!known.asks(contract) || created.has(contract)) continue
		const facts = known.codeAt(code)
		const gone = facts === null ? known.goneAt(code) : undefined
		// What called further, or destroyed itself, was code.
		const isCode = facts !== null || gone !== undefined || created.has(code) || destroyed.has(code)
		if (!isCode && !callers.has(traceText(one.traceAddress))) continue
		const isOrdinary = caller === contract || ordinary.has(above)
		const learnt = [...known.learnt(contract), ...(added.get(contract) ?? [])]
		const isLasting = facts !== null && facts.delegate === null && !destroyed.has(code)
		const verdict = verdictOn(one, { facts, isOrdinary, isLasting, learnt, block: tx.block.number }, known)
		const isOwn = verdict.rule === 'place' || verdict.rule === 'constant'
		if (isOwn || (verdict.rule === 'forwarded' && !verdict.isReported)) ordinary.add(level)
		if (verdict.learns !== null) added.set(contract, [...(added.get(contract) ?? []), verdict.learns])
		yield { ...one, ...verdict, facts: facts ?? gone ?? null }
	}
}

/** Functions of one code that a contract was seen to run by itself. */
const MOST_FUNCTIONS = 20

interface Judging {
	readonly facts: CodeFacts | null
	/** Whether the calling code is ordinary. */
	readonly isOrdinary: boolean
	/** False: the code can change (EIP-7702), or is gone. Such code is not learnt. */
	readonly isLasting: boolean
	readonly learnt: readonly LearntCode[]
	readonly block: bigint
}

function verdictOn(
	{ contract, code, caller, chosenBy, input, above }: BorrowedCode,
	{ facts, isOrdinary, isLasting, learnt, block }: Judging,
	known: CodeKnowledge,
): Pick<JudgedCode, 'rule' | 'isReported' | 'name' | 'learns'> {
	const quiet = (rule: CodeRule) => ({ rule, isReported: false, name: null, learns: null })
	if (known.isInPlace(contract, code)) return quiet('place')
	const calling = known.codeAt(caller)
	const running = calling?.delegate == null ? calling : known.codeAt(calling.delegate)
	if (isOrdinary && running?.constants.has(code) === true) return quiet('constant')
	const library = facts === null ? null : knownLibrary(code, facts.hash)
	if (library !== null && running !== null && isOfSafe(contract, caller, running, known)) {
		return { rule: 'library', isReported: !library.isQuiet, name: library.name, learns: null }
	}
	const name = library?.name ?? null
	const isChosen = chosenBy === 'caller' || chosenBy === 'unknown'
	const isForwarded = chosenBy === 'forwarded' && caller === contract && !known.hasPlace(contract)
	const rule = isChosen ? 'caller' : isForwarded ? 'forwarded' : 'pair'
	if (!isLasting || facts === null || running === null) return { rule, isReported: true, name, learns: null }
	const selector = input.length >= 10 ? input.slice(0, 10) : ''
	const pair: LearntCode = {
		block,
		caller,
		callerHash: running.hash,
		callee: code,
		calleeHash: facts.hash,
		selector,
		...(isForwarded && { forwarded: true }),
	}
	const same = learnt.filter((other) => isSamePair(other, pair))
	const isWhole = isSame(input, above.input)
	// A stranger can put the address of code that the contract runs anyway into the input. The code then gets the whole
	// input, or runs the same function, as it does without that address.
	const isAsBefore = (other: LearntCode) => isWhole || (other.forwarded !== true && other.selector === selector)
	const before = same.find((other) => !isChosen || isAsBefore(other))
	if (before !== undefined) {
		const isKnown = before.forwarded === true || same.some((other) => other.selector === selector)
		const learns = isKnown || same.length >= MOST_FUNCTIONS ? null : pair
		return { rule: before.forwarded ? 'forwarded' : 'pair', isReported: false, name, learns }
	}
	if (isChosen) return { rule, isReported: true, name, learns: null }
	const isFirst = isForwarded && isFirstForwarded(contract, learnt)
	return { rule, isReported: !isFirst, name, learns: pair }
}

/** The code of an account that delegates (EIP-7702). */
export function delegationTo(delegate: Address): CodeFacts {
	const designator = `0xef0100${delegate.slice(2)}` as const
	return { hash: Keccak.keccak256(designator), delegate, constants: new Set() }
}

/** Whether the calling code is the singleton of a Safe, or MultiSend. */
function isOfSafe(contract: Address, caller: Address, { hash }: CodeFacts, known: CodeKnowledge): boolean {
	if (known.singletonOf(contract) === caller || isSafeSingleton(caller, hash)) return true
	return knownLibrary(caller, hash)?.passesOn === true
}

/** Whether no code is known to which this one hands on its whole input. */
export function isFirstForwarded(caller: Address, learnt: readonly LearntCode[]): boolean {
	return !learnt.some((one) => one.forwarded === true && one.caller === caller)
}

function isSamePair(one: LearntCode, other: LearntCode): boolean {
	const isSameCallee = one.callee === other.callee && one.calleeHash === other.calleeHash
	return isSameCallee && one.caller === other.caller && one.callerHash === other.callerHash
}

/** Contracts that the transaction created. Its failed frames count too: nothing is reported of what they name. */
function createdIn({ frames }: TxTrace): ReadonlySet<Address> {
	const created = new Set<Address>()
	for (const { type, to, error } of frames) {
		if ((type === 'create' || type === 'create2') && to !== null && error === null) created.add(to)
	}
	return created
}

/** Contracts that a self-destruct of the transaction names: what stands there after the block may be other code. */
function destroyedIn({ frames }: TxTrace): ReadonlySet<Address> {
	return new Set(frames.flatMap(({ type, from }) => (type === 'suicide' && from !== null ? [from] : [])))
}
