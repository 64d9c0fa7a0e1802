import type { Auditor } from '../../audit/auditor.js'
import { type ContractRotation, createContractRotation } from '../../audit/contracts/contractRotation.js'
import { createFirstLook, type FirstLook, type FirstLookOptions } from '../../audit/contracts/firstLook.js'
import { type ContractReads, createContractReads } from '../../audit/contracts/readInGroups.js'
import { createPendingRechecks, type PendingRechecks } from '../../audit/pendingRechecks.js'
import type { Accounts } from '../../model/books.js'
import type { CodeReader, ContractStates } from '../../model/contract.js'
import type { Address, Clock, Hash } from '../../model/glossary.js'
import type { Log } from '../../model/ports.js'
import { type Committed, createCommitted } from '../committed.js'
import { type AuditQueue, createAuditQueue } from './auditQueue.js'
import { type CodeAudit, createCodeAudit } from './codeAudit.js'
import { createFollower, type Follower } from './follower.js'

/** The auditor of one network. What it keeps in memory is lost at a restart. */
export interface AuditPorts {
	readonly accounts: Accounts
	/** Keeps the books; null: none are kept. */
	readonly auditor: Auditor | null
	/** Opens an entry for each watch that has code; null: on a private network, where no address is named. */
	readonly firstLook: FirstLook | null
	/** Judges the code that watches run; null: on a private network. */
	readonly code: CodeAudit | null
	/** Reads contracts; null as `firstLook`. */
	readonly contracts: ContractStates | null
	/** How contracts are read, and which are not. */
	readonly reads: ContractReads
	/** Queued blocks after which contracts were read; the next commit removes them from the queue. */
	readonly touchedDone: Set<Hash>
	/** Number of failed reads of contracts, by block. */
	readonly failedContracts: Map<Hash, number>
	readonly rotation: ContractRotation
	/** Contracts whose own logs are still to be read from this block on: they got their code before their first look. */
	readonly owedLogs: Map<Address, bigint>
	readonly rechecks: PendingRechecks
	/** Failed reads of authorisations, and when the first was, by block. */
	readonly failedReads: Map<bigint, { readonly times: number; readonly sinceMs: number }>
	/** Queued blocks that were read; the next commit removes them from the queue. */
	readonly signedDone: Set<bigint>
	readonly queue: AuditQueue
	/** Whether the program ends after one poll. */
	readonly runsOnce: boolean
	/** Shared with the scanner. */
	readonly committed: Committed
	readonly follower: Follower
}

export interface AuditPortsOptions
	extends Pick<AuditPorts, 'accounts' | 'auditor' | 'contracts'>,
		Partial<Pick<FirstLookOptions, 'asks'>> {
	/** Default: no code is judged. */
	readonly codes?: CodeReader | null
	readonly clock: Clock
	/** Default: nothing is logged. */
	readonly log?: Log
	/** Ends after one poll. Default: false. */
	readonly runsOnce?: boolean
}

export function createAuditPorts({
	accounts,
	auditor,
	contracts,
	codes = null,
	asks,
	clock,
	log,
	runsOnce = false,
}: AuditPortsOptions): AuditPorts {
	const reads = createContractReads({ clock, ...(log && { log }) })
	return {
		accounts,
		auditor,
		firstLook: contracts && createFirstLook({ state: contracts, reads, clock, ...(asks && { asks }) }),
		code: codes && createCodeAudit(codes),
		contracts,
		reads,
		touchedDone: new Set(),
		failedContracts: new Map(),
		rotation: createContractRotation({ clock }),
		owedLogs: new Map(),
		rechecks: createPendingRechecks({ clock, runsOnce }),
		failedReads: new Map(),
		signedDone: new Set(),
		queue: createAuditQueue(),
		runsOnce,
		committed: createCommitted(),
		follower: createFollower(),
	}
}
