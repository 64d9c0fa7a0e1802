import { Argument, Option } from 'commander'
import { z } from 'zod'
import { counted } from '../../base/text/counted.js'
import { fitWords } from '../../base/text/outgoing.js'
import { utc } from '../../base/utc.js'
import { parseAddress } from '../../config/address.js'
import { readDuration } from '../../config/duration.js'
import type { StateSettings } from '../../config/load.js'
import { isAbout } from '../../core/outbox/historyEntries.js'
import { addresseeInWords } from '../../core/outbox/queue.js'
import { isAlone, statusOf } from '../../core/outbox/waiting.js'
import { PlainError, UsageError } from '../../errors.js'
import type { Delivery, ShownStatus } from '../../model/delivery.js'
import type { Address } from '../../model/glossary.js'
import { headline } from '../../notify/text/sentence.js'
import { peek } from '../../state/open.js'
import { type Command, configOption, exitCodes, paragraphs, readBy } from '../command.js'
import { needKnown } from '../shared/network.js'
import { openStateSettings } from '../shared/openConfig.js'
import { besideDaemon, needChoice } from './besideDaemon.js'
import { listSent } from './sent.js'

type Act = 'list' | 'retry' | 'drop'
type IsConfigured = StateSettings['isConfigured']

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
					'list; retry: attempts deliveries now, whatever their status, after those that stand before them in their ' +
						'queue, a held one alone; drop: removes them, they will never be sent',
				)
					.choices(['list', 'retry', 'drop'])
					.default('list'),
			)
			.argument('[ids...]', 'retry, drop: the ids that `list` shows')
			.option(
				'--sent',
				'what was sent, newest first, when and with which result: delivered, dropped by hand, or folded (counted ' +
					'in another alert as "and 212 more"); `history` of tracewatch.yaml says how long it is kept',
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
			.option(...configOption),
	async run(args, io) {
		const [act = 'list', ...ids] = args.positionals as readonly [Act?, ...string[]]
		const values = args.values as Values
		const settings = await openStateSettings(args, io)
		const { statePlace, receivers, isConfigured } = settings
		const { address, receiver, since: sinceMs = 0, all, json = false } = values
		const query = { sinceMs, ...(address !== undefined && { address }), ...(receiver !== undefined && { receiver }) }
		if (values.sent === true) {
			if (act !== 'list') throw new UsageError('--sent lists what was sent: nothing of it is retried or dropped')
			if ((await listSent(settings, query, json, io)) === 0) {
				needKnown('receiver', receiver, receivers)
				if (!json) io.out('nothing of that was sent')
			}
			return exitCodes.done
		}
		const waiting = [...((await peek(statePlace))?.whole.deliveries.values() ?? [])]
		const found = waiting.filter(
			(one) =>
				(values.status === undefined || statusOf(one) === values.status) &&
				one.createdAtMs >= sinceMs &&
				[one.receiver, addresseeInWords(one)].some((name) => isAbout(one.message, name, query)),
		)
		if (found.length === 0) needKnown('receiver', receiver, receivers)
		if (act === 'list') {
			if (ids.length > 0)
				throw new UsageError('`deliveries list` takes no ids; --receiver, --address, --since and --status choose')
			if (json) for (const one of found) io.out(JSON.stringify({ ...one, status: statusOf(one) }))
			else
				for (const line of linesOf(found, all === true ? found.length : listedAtOnce, isConfigured))
					io.out(fitWords(line))
			return exitCodes.done
		}
		needChoice('the ids of deliveries', ids, all)
		const known = new Set(found.map(({ id }) => id))
		const missing = ids.find((id) => !known.has(id))
		if (missing !== undefined) throw new PlainError(`there is no such delivery: ${missing}`)
		const chosen = all === true ? known : new Set(ids)
		const count = chosen.size === 0 ? 0 : await besideDaemon(settings, { act, ids: [...chosen] })
		const done = { retry: 'will be tried again now', drop: 'dropped' }
		io.out(`${counted(count, 'delivery', 'deliveries')} ${done[act]}`)
		const away = found.filter((one) => chosen.has(one.id) && !isConfigured(one))
		if (act === 'retry')
			for (const name of new Set(away.map(addresseeInWords)))
				io.out(`${name} is not configured: nothing is sent to it until it is put back, and tracewatch is restarted`)
		return count === chosen.size ? exitCodes.done : exitCodes.failed
	},
}

interface Values {
	readonly sent?: true
	readonly all?: true
	readonly json?: true
	readonly since?: number
	readonly address?: Address
	readonly receiver?: string
	readonly status?: ShownStatus
}

function readSince(text: string, nowMs: number): number {
	if (/^\d{1,6}\s*[smhd]$/.test(text)) return nowMs - readDuration(text)
	if (z.iso.date().safeParse(text).success) return Date.parse(text)
	if (z.iso.datetime({ local: true }).safeParse(text).success) return Date.parse(text.endsWith('Z') ? text : `${text}Z`)
	if (z.iso.datetime({ offset: true }).safeParse(text).success) return Date.parse(text)
	throw new RangeError('takes 24h, 7d, 2026-11-01 or 2026-11-01T10:00:00Z')
}

const listedAtOnce = 20

/** The first deliveries, and how many are left out. */
function* linesOf(found: readonly Delivery[], most: number, isConfigured: IsConfigured): Generator<string> {
	if (found.length === 0) yield 'nothing is pending, held, parked or dead'
	for (const one of found.slice(0, most)) yield* inWords(one, isConfigured)
	const left = counted(found.length - most, 'of them is', 'of them are')
	if (found.length > most) yield `${left} not shown: --all shows them, --receiver and --status choose`
}

function* inWords(delivery: Delivery, isConfigured: IsConfigured): Generator<string> {
	const { id, attempts, createdAtMs, nextAttemptAtMs, lastError, message } = delivery
	const status = statusOf(delivery)
	const tries = `${counted(attempts, 'attempt')} since ${utc(createdAtMs)}`
	const own = isAlone(delivery) ? ' (retried separately)' : ''
	const waits = status === 'pending' ? ', next at ' : status === 'held' ? ', for a digest until ' : null
	const next = waits === null ? '' : waits + utc(nextAttemptAtMs)
	const end = isConfigured(delivery) ? next : ', not configured'
	yield `${id}  ${status}${own}  ${addresseeInWords(delivery)}  ${tries}${end}`
	yield `  ${headline(message)}`
	if (lastError !== null) yield `  ${lastError}`
}
