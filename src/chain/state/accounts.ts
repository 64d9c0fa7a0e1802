import { RpcError } from '../../errors.js'
import type { Accounts, Witness } from '../../model/books.js'
import type { AddressSet, Span } from '../../model/chain.js'
import type { Clock } from '../../model/glossary.js'
import type { Chain, Log } from '../../model/ports.js'
import { feesAreKnown, surePostings } from '../blocks/fee.js'
import { type Job, type Need, soon } from '../endpoints/endpoint.js'
import type { Endpoints } from '../endpoints/endpoints.js'
import type { Rpc } from '../rpc/rpc.js'
import { readAccessList } from './accessList.js'
import { createBalanceReader } from './balances.js'
import { readAuthorisations, readDelegate, readSigned } from './delegates.js'
import { mayPass, mild } from './mildly.js'
import { readPostings } from './postings.js'
import { readAuthorizations } from './readAuthorizations.js'
import { createSigners } from './signers.js'

interface SourceWitness extends Pick<Witness, 'endpoint' | 'isWhole'> {
	readonly chain: () => Pick<Chain, 'walk'>
}

export interface AccountsOptions {
	readonly endpoints: Pick<Endpoints, 'use' | 'states'>
	/** The same endpoints, in the same order. */
	readonly rpcs: readonly Rpc[]
	readonly chainId: number
	/** One client for every source of every endpoint, opened at its first use. */
	readonly witnesses: readonly SourceWitness[]
	/** No request names an address or a transaction of one. Default: false. */
	readonly isPrivate?: boolean
	/** Default: the wall clock. */
	readonly clock?: Clock
	readonly log: Log
}

/** After no endpoint gave an access list that its header names: most nodes without lists will not get them soon. */
const LISTS_REST_MS = 600_000
/** After an endpoint took too long for a whole block. */
const SLOW_REST_MS = 60_000

/** Reads balances and what moves them from the first endpoint that has them. */
export function createAccounts({
	endpoints,
	rpcs,
	chainId,
	witnesses,
	isPrivate = false,
	clock = Date.now,
	log,
}: AccountsOptions): Accounts {
	const reader = createBalanceReader({ log })
	const signing = { chainId, signers: createSigners() }
	/** By an endpoint's limits: until then other endpoints are asked first for signed authorisations. */
	const slowUntilMs = new WeakMap<object, number>()
	let listsRestUntilMs = 0
	/** A warning was logged, and no list was given since. */
	let areListsMissed = false

	async function ask<T>(block: bigint, job: Job<T>, signal: AbortSignal, need: Need = {}): Promise<T> {
		return endpoints.use(mild(job), signal, { ...need, block })
	}

	/** Refuses requests that name an address on a private network. */
	function checkNamed(what: string): void {
		if (!isPrivate) return
		throw new RpcError(`${what} is not asked for on a private network`, { kind: 'no-data', endpoint: '' })
	}

	return {
		isPrivate,
		feesAreKnown: feesAreKnown(chainId),
		surePostings: surePostings(chainId),
		endpoints: endpoints.states().map(({ endpoint }) => endpoint),
		async balances(addresses, block, signal) {
			checkNamed('a balance')
			return ask(block.number, (rpc) => reader.read(rpc, addresses, block, signal), signal)
		},
		async balanceByEach(address, block, signal) {
			checkNamed('a balance')
			const balances: { readonly endpoint: string; readonly wei: bigint }[] = []
			for (const rpc of rpcs) {
				try {
					const wei = (await reader.read(rpc, [address], block, signal)).get(address)
					if (wei !== undefined) balances.push({ endpoint: rpc.endpoint, wei })
				} catch (error) {
					signal.throwIfAborted()
					if (!(error instanceof RpcError)) throw error
				}
			}
			return balances
		},
		async delegate(address, block, signal) {
			checkNamed('the code of an address')
			return ask(block.number, (rpc) => readDelegate(rpc, address, block, signal), signal)
		},
		authorisations: (block, address, signal) =>
			ask(block.number, (rpc) => readAuthorisations(rpc, signing, { block, who: address }, signal), signal),
		// Alerts wait for this request.
		authorizationsIn: (number, authorities, signal) =>
			ask(
				number,
				async (rpc, until) => {
					const late = () => slowUntilMs.set(rpc.limits, clock() + SLOW_REST_MS)
					until.addEventListener('abort', late, { once: true })
					try {
						return await readAuthorizations(rpc, { ...signing, number, authorities }, until)
					} finally {
						until.removeEventListener('abort', late)
					}
				},
				signal,
				{ ...soon, isMild: true, rank: ({ limits }) => ((slowUntilMs.get(limits) ?? 0) > clock() ? 1 : 0) },
			),
		signed: (txHash, signal) => endpoints.use((rpc) => readSigned(rpc, signing, txHash, signal), signal),
		postings(block, addresses, signal, endpoint) {
			const read = (rpc: Rpc) => readPostings(rpc, { chainId, isPrivate }, { block, addresses }, signal)
			return ask(block.number, read, signal, { rank: (rpc) => (rpc.endpoint === endpoint ? 0 : 1) })
		},
		async changes(block, signal) {
			if (block.accessListHash === undefined || clock() < listsRestUntilMs) return null
			const liars = new Set<string>()
			const read = async (rpc: Rpc) => {
				try {
					return await readAccessList(rpc, block, signal)
				} catch (error) {
					if (error instanceof RpcError && error.facts.content === true) liars.add(rpc.endpoint)
					throw error
				}
			}
			try {
				const changes = await ask(block.number, read, signal)
				areListsMissed = false
				return changes
			} catch (error) {
				if (!(error instanceof RpcError)) throw error
				if (error.kind === 'no-data') {
					// On a private network access lists are the only proof: ask for each block's.
					if (!isPrivate) listsRestUntilMs = clock() + LISTS_REST_MS
					const facts = { block: block.number, error: error.message }
					if (!areListsMissed) log.warn(facts, 'no endpoint gives the access list of a block')
					areListsMissed = true
				}
				if (liars.size === 0) return null
				const hosts = [...liars].join(' and ')
				const why = `${hosts} gave a false access list of block ${block.number}: it contradicts the hash in the header`
				throw new RpcError(why, { kind: 'malformed', endpoint: hosts, content: true })
			}
		},
		async *witnesses(span: Span, addresses: AddressSet, signal: AbortSignal): AsyncGenerator<Witness> {
			const heard = new Set<string>()
			const failed = new Map<string, RpcError>()
			for (const { endpoint, isWhole, chain } of witnesses) {
				try {
					for await (const part of chain().walk(span, addresses, signal)) {
						heard.add(endpoint)
						yield { endpoint, isWhole, part }
					}
				} catch (error) {
					signal.throwIfAborted()
					if (!(error instanceof RpcError)) throw error
					log.debug({ endpoint, error: error.message }, 'an endpoint cannot be a witness')
					if (mayPass(error)) failed.set(endpoint, error)
				}
			}
			for (const [endpoint, error] of failed) if (!heard.has(endpoint)) throw error
		},
	}
}
