import { Option } from 'commander'
import { sha256 } from '../base/sha256.js'
import { fitWords } from '../base/text/outgoing.js'
import { parseAddress, toChecksum } from '../config/address.js'
import type { Config } from '../config/load.js'
import { noReceiver, notReplayed, replayColumns, replayRow, replayWatches } from '../core/alerts/replay.js'
import { leastLacking, whyUnread } from '../core/gaps.js'
import { withCalls } from '../core/matching/calledFunctions.js'
import type { Payees } from '../core/matching/lookalike.js'
import { deliveryId } from '../core/outbox/posting.js'
import { areTokensAsked, openChain, watchesOn } from '../daemon/openNetwork.js'
import { PlainError, RpcError } from '../errors.js'
import { asksForTokens, noTokens } from '../kinds/tokenRules.js'
import type { Alert } from '../model/alert.js'
import type { AddressSet, Part, Span } from '../model/chain.js'
import type { Address } from '../model/glossary.js'
import type { BlockFallback, Chain } from '../model/ports.js'
import type { Announcement } from '../model/state.js'
import { sentence } from '../notify/text/sentence.js'
import { look } from '../scan/look/look.js'
import { repeatsOf, seenIn } from '../scan/look/repeats.js'
import { type Command, configOption, exitCodes, type Io, paragraphs, readBy, readEachBy } from './command.js'
import { networkOf } from './shared/network.js'
import { openConfig } from './shared/openConfig.js'
import { openLog } from './shared/openLog.js'
import { whileWaiting } from './shared/progress.js'
import { rememberedOf } from './shared/remembered.js'
import { readBlock, readLastBlock, spanOf } from './shared/span.js'
import { isUnread } from './shared/unread.js'

interface Values {
	readonly from: bigint
	readonly to: bigint | 'latest'
	readonly address?: readonly Address[]
	readonly format: Format
}

export const replay: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Scans blocks FROM to TO, both included, by the rules of the watchlists as they are now,
regardless of the first block of a watch, and prints the alerts. Addresses that imitate one that the watch paid in
these blocks are marked. Nothing is sent, and the state is not touched. What the daemon finds in the state of the chain
(control, code, delegation, balance, income, unexplained) is not replayed; alerts that balances later disprove are
printed too. SIGINT and SIGTERM stop it after the current step; it then says from which block to go on.`),
			)
			.option('--network <name>', 'as in tracewatch.yaml; may be left out when there is only one')
			.requiredOption('--from <block>', 'decimal or 0x-hex', readBy(readBlock))
			.requiredOption('--to <block>', 'the same, or latest', readBy(readLastBlock))
			.option(
				'--address <address>',
				'only this one; may be repeated; need not be on a watchlist',
				readEachBy(parseAddress),
			)
			.addOption(
				new Option(
					'--format <format>',
					'table (on a narrow terminal a sentence each), or json: one envelope a line, as a webhook gets it, with ' +
						'the deliveryId of the first of its receivers',
				)
					.choices(['table', 'json'])
					.default('table'),
			)
			.option(...configOption),
	async run(args, io) {
		const { from, to, address = [], format } = args.values as unknown as Values
		const spanIn = spanOf(from, to)
		const config = await openConfig(args, io)
		const network = networkOf(args, config)
		const watches = replayWatches(network.name, watchesOn(config.watches, network.name), address)
		const asked =
			address.length === 0
				? areTokensAsked(config.watches, network)
				: asksForTokens([...watches.values()].flat(), network.tokens ?? noTokens)
		const { chain, fallback } = openChain(network, {
			clock: Date.now,
			log: openLog(io, 2),
			tokensWanted: () => (asked ? null : new Set()),
		})
		try {
			const head = await chain.head(io.signal)
			const span = spanIn(head.latest.number)
			if (watches.size === 0)
				throw new PlainError(`no watchlist watches anything on ${network.name}; name an --address`)
			const left = notReplayed(watches)
			if (format === 'table' && left.length > 0) io.err(`not replayed (see --help): ${left.join(', ')}`)
			let next = span.from
			const printer = createPrinter(format, config, io)
			let hasAll = true
			let payees: Payees = new Map()
			const remembered = await rememberedOf(config, network, io)
			const announced = new Map<string, Announcement>(remembered?.announcements)
			const contracts = remembered?.contracts ?? new Map()
			const asAll = { network, watches, contracts, head, checksum: toChecksum, lateReason: () => 'replayed by hand' }
			const context = { ...asAll, isReplay: true, covered: new Map(), backfills: [], backfill: null } as const
			const words = () => `${next - span.from} of ${span.to - span.from + 1n} blocks`
			const scan = async () => {
				for await (const part of readable({ chain, fallback }, span, withCalls(watches, watches), io.signal)) {
					// Only the ids depend on what was announced before: it is printed all the same.
					const repeats = await repeatsOf(seenIn(part), announced, part, chain, io.signal)
					const about = { ...context, payees, repeats, nowMs: Date.now() }
					const found = await look(part, new Map(), about, chain, io.signal)
					payees = new Map([...payees, ...(found.payees ?? [])])
					for (const alert of found.news.flatMap(({ alerts }) => alerts)) printer.print(alert)
					for (const entry of found.announcements) if (!announced.has(entry.id)) announced.set(entry.id, entry)
					if (part.unread !== undefined) {
						hasAll = false
						io.err(`block ${part.span.to} was read but for ${whyUnread(part.unread)}`)
					}
					next = part.span.to + 1n
					if (isUnread()) return
				}
			}
			try {
				await whileWaiting(words, scan)
			} catch (error) {
				if (next > span.from) io.err(`blocks ${span.from} to ${next - 1n} are done; continue with --from ${next}`)
				if (io.signal.aborted) return next > span.to ? exitCodes.done : exitCodes.tryAgain
				throw error
			}
			printer.end()
			return hasAll ? exitCodes.done : exitCodes.tryAgain
		} finally {
			await chain.close()
		}
	},
}

/** The parts of a span. A block that the walk cannot read is asked of every source, even without some transactions. */
async function* readable(
	{ chain, fallback }: { readonly chain: Chain; readonly fallback: BlockFallback },
	{ from: first, to }: Span,
	addresses: AddressSet,
	signal: AbortSignal,
): AsyncGenerator<Part> {
	for (let from = first; from <= to; ) {
		try {
			for await (const part of chain.walk({ from, to }, addresses, signal)) {
				from = part.span.to + 1n
				yield part
			}
		} catch (error) {
			if (!(error instanceof RpcError) || signal.aborted) throw error
			const alone = { number: from, before: [], after: [], furtherAfter: [], wait: 'long' } as const
			const came = await fallback.tryAll(alone, addresses, signal)
			const part = 'span' in came ? came : leastLacking(came)
			if (part === null) throw error
			from += 1n
			yield part
		}
	}
}

type Format = 'table' | 'json'

function createPrinter(format: Format, { receivers }: Config, io: Io) {
	let printed = 0
	const isNarrow = format === 'table' && io.isTty && (process.stdout.columns ?? 0) < tableWidth
	const write = (cells: readonly string[]) =>
		io.out(
			cells
				.map((cell, at) => fitWords(cell).padEnd(widths[at] ?? 0))
				.join('  ')
				.trimEnd(),
		)
	return {
		print(alert: Alert) {
			const { type, data } = alert
			if (format === 'json') {
				const whole = { ...data, deliveryId: firstDeliveryOf(alert, receivers) }
				return io.out(JSON.stringify({ type, timestamp: data.detectedAt, data: whole }))
			}
			printed++
			if (isNarrow) {
				for (const line of narrowLines({ type, data })) io.out(fitWords(line))
				return
			}
			if (printed === 1) write(replayColumns)
			write(replayRow(data))
		},
		end() {
			if (format === 'table' && printed === 0) io.out('nothing happened there that a watch would have sent')
		},
	}
}

/** The id of the delivery to the first receiver. Each further receiver has a delivery id of its own. */
function firstDeliveryOf({ data, receivers: [receiver = noReceiver] }: Alert, all: Config['receivers']): string {
	const found = all.find(({ name }) => name === receiver)
	const recipient = found?.type === 'email' ? (found.to[0] ?? null) : null
	return deliveryId({ alertId: data.id, blockHash: data.blockHash, receiver, recipient, revision: 0 }, sha256)
}

/**
 * An alert on three lines, for terminals that are narrower than the table. Whole addresses are in the table and in
 * JSON.
 */
function narrowLines({ type, data }: Pick<Alert, 'type' | 'data'>): readonly string[] {
	const time = data.blockTimestamp.replace('.000Z', 'Z')
	return [`block ${data.blockNumber}, ${time}`, `  ${sentence({ type, data })}`, `  ${data.txHash}`]
}

const widths = [9, 20, 10, 9, 12, 5, 42, 42, 12, 66, 5, 42]
/** Without the last column, which is mostly empty. */
const tableWidth = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
