// The program's own parts, as the daemon puts them together, without the process around them.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAskedState } from '../src/audit/asked/askedState.js'
import { createAuditor } from '../src/audit/auditor.js'
import { sha256 as digest } from '../src/base/sha256.js'
import { toChecksum } from '../src/config/address.js'
import type { NetworkSettings } from '../src/config/settings/settings.js'
import { createWatchTable } from '../src/config/watchlists/table/watchTable.js'
import { eventsOf } from '../src/core/events/events.js'
import { match } from '../src/core/matching/match.js'
import { openChain } from '../src/daemon/openNetwork.js'
import type { Span } from '../src/model/chain.js'
import type { Address } from '../src/model/glossary.js'
import type { Kind } from '../src/model/kind.js'
import type { Chain, Log } from '../src/model/ports.js'
import type { WatchIndex, WatchRules } from '../src/model/watch.js'
import { createAuditPorts } from '../src/scan/auditing/auditPorts.js'
import { poll } from '../src/scan/poll.js'
import { openFileStore } from '../src/state/file/store.js'

export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }
const never = new AbortController().signal

export function networkAt(url: string): NetworkSettings {
	return {
		name: 'local',
		chainId: 31337,
		confirmations: 0,
		settle: 12,
		symbol: 'ETH',
		decimals: 18,
		explorer: null,
		rpc: [url],
		ws: [],
		schedule: '* * * * * *',
		source: 'auto',
		isPrivate: false,
		keepsBooks: false,
		keepsListedBooks: false,
		requestsPerSecond: null,
		stallAfterMs: null,
	}
}

export function watchIndex(addresses: readonly Address[], network = 'local', more: readonly Kind[] = []): WatchIndex {
	const table = createWatchTable(0)
	const rules: WatchRules = {
		network,
		tags: [],
		kinds: ['transfer', 'deployment', ...more],
		direction: 'both',
		minValueWei: 1n,
		receivers: ['hook'],
		fromBlock: null,
		watchlist: 'bench.yaml',
	}
	for (const address of addresses) table.add(address, null, rules)
	return table.index
}

/** Resolves to how many alerts there would be. */
export async function matchAll(chain: Chain, span: Span, index: WatchIndex): Promise<number> {
	let found = 0
	for await (const part of chain.walk(span, index, never)) {
		for (const tx of part.transactions) found += match(eventsOf(tx), index, () => true).length
	}
	return found
}

export interface Walker {
	/** Walks a span and matches what it finds; resolves to how many alerts that would be. */
	walk(span: Span): Promise<number>
	close(): Promise<void>
}

/** A chain that has been asked what it can do already, so that this does not count. */
export async function openWalker(url: string, addresses: readonly Address[]): Promise<Walker> {
	const { chain } = openChain(networkAt(url), { clock: Date.now, log: quiet })
	const index = watchIndex(addresses)
	const walk = (span: Span) => matchAll(chain, span, index)
	const { latest } = await chain.head(never)
	await walk({ from: latest.number, to: latest.number })
	return { walk, close: () => chain.close() }
}

export interface Poller {
	poll(): Promise<{ readonly alerts: number; readonly bytesWritten: number }>
	close(): Promise<void>
	/** How many watches have a book. */
	booksOpened(): Promise<number>
	/** Resolves once the audit after a poll has ended. */
	audited(): Promise<void>
	/** How many watches had their first look as contracts. */
	contractsOpened(): Promise<number>
}

/** Polls with a state on disk. */
export async function openPoller(
	url: string,
	addresses: readonly Address[],
	{ books = false, kinds = [] }: { readonly books?: boolean; readonly kinds?: readonly Kind[] } = {},
): Promise<Poller> {
	const folder = await mkdtemp(join(tmpdir(), 'tracewatch-bench-'))
	const store = await openFileStore(folder, { clock: Date.now, log: quiet })
	const network = { ...networkAt(url), keepsBooks: books }
	const { chain, accounts, contracts, codes } = openChain(network, { clock: Date.now, log: quiet })
	const watches = watchIndex(addresses, 'local', [...kinds, ...(books ? (['unexplained'] as const) : [])])
	const config = { network, watches, recipientsOf: () => null, lateAfterMs: 3_600_000, budgetMs: 600_000 }
	const state = { accounts, chain, clock: Date.now, log: quiet }
	const auditor = books ? createAuditor(state, createAskedState(state)) : null
	const isAudited = books || kinds.length > 0
	const audit = isAudited ? createAuditPorts({ accounts, auditor, contracts, codes, clock: Date.now }) : undefined
	const kept = audit === undefined ? {} : { audit }
	const ports = { chain, store, clock: Date.now, log: quiet, checksum: toChecksum, digest, ...kept }
	return {
		async poll() {
			const before = await filesIn(folder)
			const { alerts } = await poll(config, ports, never)
			const after = await filesIn(folder)
			let bytesWritten = 0
			for (const [name, { size, ino, mtimeMs }] of after) {
				const old = before.get(name)
				if (old === undefined || old.ino !== ino) bytesWritten += size
				else if (old.mtimeMs !== mtimeMs) bytesWritten += size > old.size ? size - old.size : size
			}
			// What is delivered is not written again.
			const queues = await store.claim({ nowMs: Date.now(), perQueue: 1_000 })
			await store.resolve(queues.flat().map(({ id }) => ({ id, result: 'delivered' })))
			return { alerts: (alerts.transfer ?? 0) + (alerts.deployment ?? 0), bytesWritten }
		},
		audited: async () => await audit?.follower.idle(),
		contractsOpened: async () => (await store.network('local'))?.contracts.size ?? 0,
		booksOpened: async () => (await store.network('local'))?.books.size ?? 0,
		async close() {
			await audit?.follower.halt()
			await chain.close()
			await store.close()
			await rm(folder, { recursive: true, force: true })
		},
	}
}

/** To compare later: a file that grew in place was appended to; any other that changed was written as a whole. */
async function filesIn(folder: string) {
	const names = await readdir(folder)
	const stats = await Promise.all(names.map(async (name) => [name, await stat(join(folder, name))] as const))
	return new Map(stats.filter(([, one]) => one.isFile()))
}
