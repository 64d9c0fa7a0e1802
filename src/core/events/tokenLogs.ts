import type { Address, Hash, Hex } from '../../model/glossary.js'
import type { KnownToken, KnownTokens, TokenEvent } from '../../model/token.js'
import { type Steps, stepItems } from '../steps.js'

export interface TxLog {
	/** Contract that wrote it. */
	readonly address: Address
	/** 0 to 4 words. */
	readonly topics: readonly Hash[]
	/** Lower case, whole bytes. */
	readonly data: Hex
}

/** All logs of one transaction, in order; the receipt of one that failed has none. */
export interface TxLogs extends Pick<TokenEvent, 'txHash' | 'txIndex' | 'block' | 'initiator'> {
	readonly logs: readonly TxLog[]
}

/** First topics: hashes of the signatures, which the tests work out. */
export const topics = {
	/** Transfer(address,address,uint256), of ERC-20 and ERC-721 alike. */
	transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
	/** TransferSingle(address,address,address,uint256,uint256) */
	single: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
	/** TransferBatch(address,address,address,uint256[],uint256[]) */
	batch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
	/** Deposit(address,uint256), of wrapped coins. */
	deposit: '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
	/** Withdrawal(address,uint256), of wrapped coins. */
	withdrawal: '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
} as const satisfies Readonly<Record<string, Hash>>

export const zeroAddress: Address = `0x${'0'.repeat(40)}`

type Move = Pick<TokenEvent, 'standard' | 'from' | 'to' | 'amountRaw' | 'tokenId' | 'operator'>

/**
 * The token events in a transaction's logs, in order. ERC-20 and ERC-721 share a signature and differ in the number of
 * topics; in ERC-1155 the parties are one topic later. A log of any other form gives no event. For known tokens also:
 * transfers without indexed fields (CryptoKitties), and deposits and withdrawals of wrapped coins if the contract logs
 * no transfer for them (docs/nodes.md, "Token logs"). Yields between steps, since a transaction can contain very many
 * logs.
 */
export function* tokenEventSteps(tx: TxLogs, known: KnownTokens): Steps<readonly TokenEvent[]> {
	const events: TokenEvent[] = []
	const wrapped: { readonly at: number; readonly event: TokenEvent }[] = []
	for (const [index, log] of tx.logs.entries()) {
		if (index % stepItems === stepItems - 1) yield
		const contract = log.address
		let entry = 0
		const add = (move: Move | null, trace = `log_${index}`) => {
			if (move !== null) events.push(eventOf(tx, contract, trace, move))
		}
		switch (log.topics[0]) {
			case topics.transfer:
				add(transferIn(log) ?? unindexedIn(log, known))
				break
			case topics.single:
				add(singleIn(log))
				break
			case topics.batch:
				for (const move of batchIn(log)) {
					add(move, `log_${index}_${entry++}`)
					if (entry % stepItems === 0) yield
				}
				break
			case topics.deposit:
			case topics.withdrawal: {
				const move = wrappedIn(log, known)
				if (move === null) break
				wrapped.push({ at: events.length, event: eventOf(tx, contract, `log_${index}`, move) })
			}
		}
	}
	return wrapped.length === 0 ? events : withWrapped(events, wrapped)
}

/** Field by field: spreading two objects takes several times as much memory and time. */
function eventOf(
	{ txHash, txIndex, block, initiator }: TxLogs,
	contract: Address,
	trace: string,
	{ standard, from, to, amountRaw, tokenId, operator }: Move,
): TokenEvent {
	const kind = 'token'
	return { kind, contract, txHash, txIndex, block, initiator, trace, standard, from, to, amountRaw, tokenId, operator }
}

/**
 * Adds wrappings without a transfer of the same contract and amount, each in its place; one transfer matches one
 * wrapping. WETH9 lets anyone log a transfer of zero between the zero address and the watch.
 */
function withWrapped(
	events: readonly TokenEvent[],
	wrapped: readonly { readonly at: number; readonly event: TokenEvent }[],
): readonly TokenEvent[] {
	const all: TokenEvent[] = []
	const keyOf = ({ contract, from, to, amountRaw }: TokenEvent) => `${contract} ${from} ${to} ${amountRaw}`
	const transfers = new Map<string, number>()
	for (const event of events) transfers.set(keyOf(event), (transfers.get(keyOf(event)) ?? 0) + 1)
	const own = wrapped.filter(({ event }) => {
		const left = transfers.get(keyOf(event)) ?? 0
		transfers.set(keyOf(event), left - 1)
		return left <= 0
	})
	let next = 0
	for (let at = 0; at <= events.length; at++) {
		for (let one = own[next]; one?.at === at; one = own[next]) {
			all.push(one.event)
			next++
		}
		const event = events[at]
		if (event !== undefined) all.push(event)
	}
	return all
}

function transferIn({ topics: [, first, second, third, ...more], data }: TxLog): Move | null {
	if (first === undefined || second === undefined || more.length > 0) return null
	const [from, to] = [addressOf(first), addressOf(second)]
	if (from === null || to === null) return null
	if (third !== undefined) {
		return { standard: 'erc721', from, to, amountRaw: 1n, tokenId: BigInt(third), operator: null }
	}
	const amountRaw = wordAt(data, 0)
	return amountRaw === null ? null : { standard: 'erc20', from, to, amountRaw, tokenId: null, operator: null }
}

/**
 * Whether all transfers of a token are read, since topics cannot find those of the old kind that indexes no party: of a
 * token without a fraction. Of every other ERC-20, that would be too many for a kind that is hardly found there.
 */
export function mayIndexNothing({ decimals }: Pick<KnownToken, 'decimals'>): boolean {
	return decimals === null || decimals === 0
}

/** A `Transfer` without indexed parties; an NFT if the operator configured no decimals. */
function unindexedIn({ address, topics: own, data }: TxLog, known: KnownTokens): Move | null {
	const token = known.get(address)
	if (token === undefined || own.length !== 1 || data.length !== 2 + 3 * 64) return null
	const [from, to, number] = [addressAt(data, 0), addressAt(data, 1), wordAt(data, 2)]
	if (from === null || to === null || number === null) return null
	return token.decimals === null
		? { standard: 'erc721', from, to, amountRaw: 1n, tokenId: number, operator: null }
		: { standard: 'erc20', from, to, amountRaw: number, tokenId: null, operator: null }
}

function singleIn({ topics: [, first, second, third], data }: TxLog): Move | null {
	const parties = partiesOf(first, second, third)
	const [tokenId, amountRaw] = [wordAt(data, 0), wordAt(data, 1)]
	if (parties === null || tokenId === null || amountRaw === null) return null
	return { standard: 'erc1155', ...parties, amountRaw, tokenId }
}

/** Empty if the lists differ in length or exceed the data. One at a time: there may be a hundred thousand. */
function* batchIn({ topics: [, first, second, third], data }: TxLog): Generator<Move> {
	const parties = partiesOf(first, second, third)
	const [ids, amounts] = [listAt(data, 0), listAt(data, 1)]
	if (parties === null || ids === null || amounts === null || ids.length !== amounts.length) return
	for (let entry = 0; entry < ids.length; entry++) {
		const [tokenId, amountRaw] = [wordAt(data, ids.start + entry), wordAt(data, amounts.start + entry)]
		if (tokenId === null || amountRaw === null) return
		yield { standard: 'erc1155', ...parties, amountRaw, tokenId }
	}
}

function partiesOf(first?: Hash, second?: Hash, third?: Hash): Pick<Move, 'operator' | 'from' | 'to'> | null {
	if (first === undefined || second === undefined || third === undefined) return null
	const [operator, from, to] = [addressOf(first), addressOf(second), addressOf(third)]
	return operator === null || from === null || to === null ? null : { operator, from, to }
}

/** Wrapping creates tokens, unwrapping burns them. Other contracts use the same topics with other meanings. */
function wrappedIn({ address, topics: [word, who, ...more], data }: TxLog, known: KnownTokens): Move | null {
	const token = known.get(address)
	if (token === undefined || token.decimals === null || who === undefined || more.length > 0) return null
	const [party, amountRaw] = [addressOf(who), data.length === 2 + 64 ? wordAt(data, 0) : null]
	if (party === null || amountRaw === null) return null
	const [from, to] = word === topics.deposit ? [zeroAddress, party] : [party, zeroAddress]
	return { standard: 'erc20', from, to, amountRaw, tokenId: null, operator: null }
}

/** Null if the word is not an address: the topic then means something else. */
function addressOf(word: string): Address | null {
	return word.startsWith(`0x${'0'.repeat(24)}`) ? (`0x${word.slice(26)}` as Address) : null
}

/** A word of 32 bytes, counted from 0; null if the data ends before it. */
function hexAt(data: Hex, word: number): string | null {
	const start = 2 + word * 64
	return data.length < start + 64 ? null : data.slice(start, start + 64)
}

function wordAt(data: Hex, word: number): bigint | null {
	const digits = hexAt(data, word)
	return digits === null ? null : BigInt(`0x${digits}`)
}

function addressAt(data: Hex, word: number): Address | null {
	const digits = hexAt(data, word)
	return digits === null ? null : addressOf(`0x${digits}`)
}

/** A list whose offset is in the given word: its first word and its length, all within the data; else null. */
function listAt(data: Hex, word: number): { readonly start: number; readonly length: number } | null {
	const words = BigInt(Math.floor((data.length - 2) / 64))
	const place = wordAt(data, word)
	if (place === null || place % 32n !== 0n || place / 32n >= words) return null
	const start = Number(place / 32n)
	const length = wordAt(data, start)
	if (length === null || length > words - BigInt(start) - 1n) return null
	return { start: start + 1, length: Number(length) }
}
