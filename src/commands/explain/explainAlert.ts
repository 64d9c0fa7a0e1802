/**
 * `explain` for an alert that was not read from a frame or log: shows its source, and whether the node still confirms
 * it.
 */

import { fitWords } from '../../base/text/outgoing.js'
import { utc } from '../../base/utc.js'
import type { Config } from '../../config/load.js'
import type { AlertId } from '../../core/alerts/alertId.js'
import { alertsOf } from '../../core/outbox/historyEntries.js'
import { openChain, watchesOn } from '../../daemon/openNetwork.js'
import { PlainError } from '../../errors.js'
import { recordOf } from '../../kinds/all.js'
import type { AlertData } from '../../model/alert.js'
import type { Span } from '../../model/chain.js'
import type { DeliveryRow } from '../../model/history.js'
import { headline } from '../../notify/text/sentence.js'
import { statementOf } from '../../statements/statement.js'
import { type ExitCode, exitCodes, type Io } from '../command.js'
import { openLog } from '../shared/openLog.js'
import { whileWaiting } from '../shared/progress.js'
import { everything } from '../state/history.js'
import { createStatementPrinter } from '../statement/coinLines.js'
import { nameOf } from '../statement/lines.js'
import { withHint } from '../statement/statement.js'
import { checkAlert } from './explainKinds.js'

export interface AlertQuestion {
	/** The argument in lower case. */
	readonly text: string
	readonly id: AlertId
	readonly network: Config['networks'][number]
	/** Block of the alert, used when no other source names it. */
	readonly block: bigint | null
}

/** `done` when the node confirms the alert; `failed` when the node contradicts it, or cannot tell. */
export async function explainAlert(question: AlertQuestion, config: Config, io: Io): Promise<ExitCode> {
	const { text, id, network } = question
	if (network.isPrivate) {
		throw new PlainError(
			`${network.name} is private: this command asks for the balance of one address, ` +
				'which shows the address to the provider',
		)
	}
	const watches = watchesOn(config.watches, network.name)
	const facts = { network, address: id.address, watches }
	io.out(text)
	io.out(`${recordOf(id.kind).noun} of ${nameOf(facts)} on ${network.name}`)
	const own = watches.get(id.address) ?? []
	io.out(own.length === 0 ? 'not watched now' : `watched in ${own.map(({ watchlist }) => watchlist).join(', ')}`)
	const found = await newestOf(text, config)
	if (found === null) io.out('it is not in the history: never sent, or longer ago than `history` keeps')
	else io.out(`sent ${utc(found.row.toldAtMs)} to ${found.row.receiver}: ${fitWords(headline(found.row.message))}`)
	io.out('')

	const options = { clock: Date.now, log: openLog(io, 2), withSent: true, isStream: true } as const
	const ports = openChain(network, options)
	try {
		const asked = { id, network, watches: own, sent: found?.data ?? null, block: question.block }
		const checked = await whileWaiting(`asking ${network.name}`, () => checkAlert(asked, ports, io.signal))
		for (const line of checked.lines) io.out(fitWords(line))
		const isClosed = checked.span === null ? null : await drawBook(checked.span, facts, ports, io)
		const isConfirmed = id.kind === 'unexplained' && isClosed !== null ? !isClosed : checked.isConfirmed
		io.out('')
		io.out(verdictOf(isConfirmed, id))
		return isConfirmed ? exitCodes.done : exitCodes.failed
	} catch (error) {
		throw withHint(error)
	} finally {
		await ports.chain.close()
	}
}

function verdictOf(isConfirmed: boolean, { kind }: AlertId): string {
	if (kind === 'unexplained') {
		return isConfirmed
			? 'Confirmed: the balance still moves by what no frame, fee or payment of the chain accounts for.'
			: 'EXPLAINED BY NOW: the books of these blocks close, so this alert no longer holds.'
	}
	return isConfirmed
		? 'Confirmed: the node says the same now.'
		: 'NOT CONFIRMED: the node does not say so now; what left the chain is retracted by `alert.removed`.'
}

/**
 * Prints all movements of the address in these blocks, checked against the balance. Resolves to whether the book
 * closes.
 */
async function drawBook(
	span: Span,
	facts: Parameters<typeof createStatementPrinter>[1],
	ports: Pick<ReturnType<typeof openChain>, 'chain' | 'accounts'>,
	io: Io,
): Promise<boolean> {
	io.out('')
	io.out(span.from === span.to ? `The book of block ${span.to}:` : `The book of blocks ${span.from} to ${span.to}:`)
	const printer = createStatementPrinter('table', facts)
	let isClosed = false
	for await (const item of statementOf(facts.address, span, ports, io.signal)) {
		if (item.item === 'read') continue
		for (const line of printer.linesOf(item)) io.out(line)
		if (item.item === 'closing') isClosed = item.balanceWei === item.explainedWei
	}
	return isClosed
}

/** The alert as it was sent last, alone or in a digest; null when the state and the history do not have it. */
async function newestOf(
	text: string,
	{ statePlace }: Config,
): Promise<{ readonly row: DeliveryRow; readonly data: AlertData } | null> {
	for await (const row of everything(statePlace, { text })) {
		if ('hole' in row || row.message.type === 'alert.removed') continue
		const data = alertsOf(row.message).find(({ id }) => id === text)
		if (data !== undefined) return { row, data }
	}
	return null
}
