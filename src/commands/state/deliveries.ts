import { Argument, Option } from 'commander'
import { fitWords } from '../../base/text/outgoing.js'
import { utc } from '../../base/utc.js'
import { parseAddress } from '../../config/address.js'
import { readDuration } from '../../config/duration.js'
import type { StateSettings } from '../../config/load.js'
import { isAbout } from '../../core/outbox/historyEntries.js'
import { isQuarantined } from '../../core/outbox/quarantine.js'
import { PlainError, UsageError } from '../../errors.js'
import type { Delivery } from '../../model/delivery.js'
import type { HistoryQuery } from '../../model/history.js'
import { headline } from '../../notify/text/sentence.js'
import { askControl, type DeliveriesRequest } from '../../ops/controlSocket.js'
import { peek } from '../../state/open.js'
import { type Command, type CommandArgs, configOption, exitCodes, type Io, paragraphs, readBy } from '../command.js'
import { needKnown } from '../shared/network.js'
import { openStateSettings } from '../shared/openConfig.js'
import { besideDaemon } from './besideDaemon.js'
import { listSent } from './sent.js'

type Act = DeliveriesRequest['act'] | 'list'

export const deliveries: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Without --sent, \`list\` shows the deliveries that wait (pending), are kept back by a digest
(held), wait for a fix (parked) or were given up (dead), each with the reason. Works beside a running daemon.`),
			)
			.addArgument(
				new Argument(
					'[act]',
					'list; retry: attempts deliveries now, whatever their status, a held one alone; drop: removes them, they ' +
						'will never be sent',
				)
					.choices(['list', 'retry', 'drop'])
					.default('list'),
			)
			.argument('[ids...]', 'retry, drop: the ids that `list` shows')
			.option(
				'--sent',
				'what was sent, newest first, when and with which result: delivered, dropped by hand, split (a refused ' +
					'digest whose alerts went on one by one), or folded (counted in another alert as "and 212 more"); ' +
					'`history` of tracewatch.yaml says how long it is kept',
			)
			.option('--all', 'every delivery that the filters let through; without it `list` shows the first 20')
			.option(
				'--since <time>',
				'made since then, with --sent: ended since then; 24h, 7d, 2026-11-01 or 2026-11-01T10:00:00Z (UTC)',
				readBy((text) => readSince(text, Date.now())),
			)
			.option('--address <address>', 'about one watch', readBy(parseAddress))
			.option('--receiver <name>', 'those of one receiver')
			.addOption(
				new Option('--status <status>', 'those of one status')
					.choices(['pending', 'held', 'parked', 'dead'])
					.conflicts('sent'),
			)
			.option('--json', 'list: one JSON object a line')
			.option(...configOption)
			.addHelpText(
				'after',
				'\nExit codes: 0 done, 1 an id was not found or the state cannot be used, 2 wrong usage,\n' +
					'78 the configuration is wrong.',
			),
	async run(args, io) {
		const [act = 'list', ...ids] = args.positionals as readonly [Act?, ...string[]]
		const query = queryOf(args)
		if (args.values.sent === true) {
			if (act !== 'list') throw new UsageError('--sent lists what was sent: nothing of it is retried or dropped')
			const { statePlace, receivers } = await openStateSettings(args, io)
			const count = await listSent(statePlace, query, args.values.json === true, io)
			if (count === 0) needKnown('receiver', query.receiver, receivers)
			return exitCodes.done
		}
		const settings = await openStateSettings(args, io)
		const found = filtered(await listed(settings), query, args)
		if (found.length === 0) needKnown('receiver', args.values.receiver, settings.receivers)
		if (act === 'list') {
			if (ids.length > 0)
				throw new UsageError(`\`deliveries list\` takes no ids; --receiver, --address, --since and --status choose`)
			list(found, args, io)
			return exitCodes.done
		}
		const chosen = choose(found, ids, args.values.all === true)
		const count = chosen.length === 0 ? 0 : await work(settings, { act, ids: chosen })
		io.out(
			`${count} ${count === 1 ? 'delivery' : 'deliveries'} ${act === 'retry' ? 'will be tried again now' : 'dropped'}`,
		)
		return count === chosen.length ? exitCodes.done : exitCodes.failed
	},
}

async function listed({ statePlace }: StateSettings): Promise<readonly Delivery[]> {
	return (await peek(statePlace, Date.now))?.deliveries ?? []
}

function queryOf({ values: { address, receiver, since } }: CommandArgs): HistoryQuery {
	return {
		...(typeof address === 'string' && { address }),
		...(typeof receiver === 'string' && { receiver }),
		...(typeof since === 'number' && { sinceMs: since }),
	}
}

function readSince(text: string, nowMs: number): number {
	if (/^\d{1,6}\s*[smhd]$/.test(text)) return nowMs - readDuration(text)
	const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text)
	const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/.test(text)
	const ms = isDate || isTime ? Date.parse(isDate || /(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`) : Number.NaN
	if (!Number.isNaN(ms)) return ms
	throw new RangeError('it takes 24h, 7d, 2026-11-01 or 2026-11-01T10:00:00Z')
}

function filtered(
	all: readonly Delivery[],
	query: HistoryQuery,
	{ values: { status } }: CommandArgs,
): readonly Delivery[] {
	const { sinceMs = 0 } = query
	return all.filter(
		(one) =>
			(status === undefined || one.status === status) &&
			one.createdAtMs >= sinceMs &&
			isAbout(one.message, one.receiver, query),
	)
}

function choose(found: readonly Delivery[], ids: readonly string[], all: boolean): readonly string[] {
	if (all === ids.length > 0)
		throw new UsageError('name the ids of deliveries, or say --all; `deliveries list` shows them')
	if (all) return found.map(({ id }) => id)
	const known = new Set(found.map(({ id }) => id))
	const unknown = ids.filter((id) => !known.has(id))
	if (unknown.length > 0) throw new PlainError(`there is no such delivery: ${unknown.join(', ')}`)
	return [...new Set(ids)]
}

async function work(settings: StateSettings, request: DeliveriesRequest): Promise<number> {
	const { act, ids } = request
	return await besideDaemon(
		settings,
		(dir) => askDaemon(dir, request),
		(store) => (act === 'retry' ? store.retry(ids, Date.now()) : store.drop(ids)),
	)
}

/** Asks the daemon in batches of `idsAtOnce`, the most that it accepts in one request. Null when no daemon runs. */
async function askDaemon(dir: string, { act, ids }: DeliveriesRequest): Promise<number | null> {
	let count = 0
	for (let at = 0; at < ids.length; at += idsAtOnce) {
		const found = await askControl(dir, { act, ids: ids.slice(at, at + idsAtOnce) })
		if (found === null) return null
		count += found
	}
	return count
}

const idsAtOnce = 50_000
const listedAtOnce = 20

/** Prints the first deliveries and a count of each sort; with `--json` every delivery. */
function list(found: readonly Delivery[], { values: { json, all } }: CommandArgs, io: Io): void {
	if (json === true) {
		for (const one of found) io.out(JSON.stringify(one))
		return
	}
	if (found.length === 0) io.out('nothing is pending, held, parked or dead')
	const shown = all === true ? found : found.slice(0, listedAtOnce)
	for (const one of shown) for (const line of lines(one)) io.out(fitWords(line))
	if (shown.length === found.length) return
	io.out('')
	for (const [sort, count] of counted(found)) io.out(fitWords(`${count}  ${sort}`))
	io.out(`${found.length - shown.length} of them are not shown: --all shows them, --receiver and --status choose`)
}

/** Counts by status and receiver, in order of first appearance. */
function counted(found: readonly Delivery[]): ReadonlyMap<string, number> {
	const counts = new Map<string, number>()
	for (const { status, receiver } of found) {
		const sort = `${status}  ${receiver}`
		counts.set(sort, (counts.get(sort) ?? 0) + 1)
	}
	return counts
}

function* lines(delivery: Delivery) {
	const { id, receiver, recipient, status, attempts, createdAtMs, lastError, message } = delivery
	const to = recipient === null ? receiver : `${receiver} (${recipient})`
	const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} since ${utc(createdAtMs)}`
	const own = isQuarantined(delivery) ? ' (retried separately, while others are accepted)' : ''
	yield `${id}  ${status}${own}  ${to}  ${tries}${whatNext(delivery)}`
	yield `  ${headline(message)}`
	if (lastError !== null) yield `  ${lastError}`
}

function whatNext({ status, nextAttemptAtMs }: Delivery): string {
	if (status === 'pending') return `, next at ${utc(nextAttemptAtMs)}`
	if (status !== 'held') return ''
	return `, for a digest until ${utc(nextAttemptAtMs)}`
}
