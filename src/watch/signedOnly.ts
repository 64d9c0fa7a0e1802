import { type Difference, isAnnounced } from '../core/compare.js'
import type { Finding } from '../core/findings.js'
import { type Found, withFindings } from '../core/withFindings.js'
import type { Accounts } from '../model/books.js'
import type { Block, Part } from '../model/chain.js'
import type { Chain, Log } from '../model/ports.js'
import type { Announcement } from '../model/state.js'
import { alertsOfFinding } from './findingAlerts.js'
import type { LookContext } from './look.js'
import { delegationsSigned, signedChanges, signedInPart } from './signedIn.js'

export interface SignedPorts {
	readonly accounts: Accounts
	readonly chain: Chain
	readonly log: Log
	/** Nobody is asked about an address: what was signed is told as that. */
	readonly isPrivate: boolean
	/** Blocks that were read in vain; written into. */
	readonly vain: Map<bigint, number>
}

/**
 * Where no books are kept: delegations (EIP-7702) of blocks near the head, by the transactions that carry them. Those
 * announced of blocks that have left the chain are taken back, if they are not in these.
 */
export async function withSigned(
	part: Part,
	announcements: ReadonlyMap<string, Announcement>,
	difference: Difference,
	context: LookContext,
	{ isPrivate, ...ports }: SignedPorts,
	signal: AbortSignal,
): Promise<Difference> {
	const blocks = await signedInPart(part, context.head.latest.number, context.watches, ports, signal)
	const changes = signedChanges(blocks, [])
	const findings: readonly Finding[] = isPrivate
		? changes.flatMap(({ findings: all }) => all)
		: await delegationsSigned(changes, ports, signal)
	const found = findings.map((finding): Found => ({ alerts: alertsOfFinding(finding, part, context) }))
	const now = new Map(found.flatMap(({ alerts }) => alerts.map(({ data }) => [data.id, data] as const)))
	const gone: Announcement[] = []
	const moved: Announcement[] = []
	for (const entry of announcements.values()) {
		const { number, hash } = entry.block
		if (entry.alerts[0]?.data.kind !== 'delegation' || !isAnnounced(entry)) continue
		if (number < part.span.from || number > part.span.to) continue
		const again = now.get(entry.id)
		if (again !== undefined) {
			const block = { number: BigInt(again.blockNumber), hash: again.blockHash }
			if (block.hash !== hash) moved.push({ ...entry, block })
		} else if ((await blockAt(number, part, ports.chain, signal))?.hash !== hash) gone.push(entry)
	}
	if (found.length === 0 && gone.length === 0) return difference
	const whole = withFindings(difference, found, gone, announcements)
	return { ...whole, announcements: [...whole.announcements, ...moved] }
}

async function blockAt(
	number: bigint,
	{ last, blocks }: Part,
	chain: Chain,
	signal: AbortSignal,
): Promise<Block | null> {
	return number === last.number ? last : (blocks.get(number) ?? chain.block(number, signal))
}
