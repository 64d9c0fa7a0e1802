/** `explain` of an alert that no frame or log tells: where it comes from, and whether the node still says so. */

import { fitWords } from '../base/outgoing.js'
import { utc } from '../base/utc.js'
import type { Config } from '../config/load.js'
import type { AlertId } from '../core/alertId.js'
import { alertsOf } from '../core/history.js'
import { openChain, watchesOn } from '../daemon/open.js'
import { PlainError } from '../errors.js'
import type { AlertData } from '../model/alert.js'
import type { Span } from '../model/chain.js'
import type { DeliveryRow } from '../model/history.js'
import { headline } from '../notify/text/sentence.js'
import { statementOf } from '../watch/statement.js'
import { type ExitCode, exitCodes, type Io } from './command.js'
import { checkAlert } from './explainKinds.js'
import { everything } from './history.js'
import { openLog } from './openLog.js'
import { whileWaiting } from './progress.js'
import { createStatementPrinter } from './statement/coinLines.js'
import { nameOf } from './statement/lines.js'
import { withWayOut } from './statement.js'

export interface AlertQuestion {
	/** As typed, in lower case. */
	readonly text: string
	readonly id: AlertId
	readonly network: Config['networks'][number]
	/** Where the alert stands, in case nothing else says it. */
	readonly block: bigint | null
}

/** Done when the node confirms the alert; failed when it says otherwise, or cannot say. */
export async function explainAlert(question: AlertQuestion, config: Config, io: Io): Promise<ExitCode> {
	const { text, id, network } = question
	if (network.isPrivate) {
		throw new PlainError(
			`${network.name} is private: to look at one address again asks for its balance, and tells the provider of it`,
		)
	}
	const watches = watchesOn(config.watches, network.name)
	const facts = { network, address: id.address, watches }
	io.out(text)
	io.out(`${kinds[id.kind]} of ${nameOf(facts)} on ${network.name}`)
	const own = watches.get(id.address) ?? []
	io.out(own.length === 0 ? 'not watched now' : `watched in ${own.map(({ watchlist }) => watchlist).join(', ')}`)
	const found = await newestOf(text, config)
	if (found === null) io.out('it is not in the history: never sent, or longer ago than `history` keeps')
	else io.out(`sent ${utc(found.row.toldAtMs)} to ${found.row.receiver}: ${fitWords(headline(found.row.message))}`)
	io.out('')

	const options = { clock: Date.now, log: openLog(io, 2), withSent: true, isStream: true } as const
	const ways = openChain(network, options)
	try {
		const asked = { id, network, watches: own, sent: found?.data ?? null, block: question.block }
		const checked = await whileWaiting(`asking ${network.name}`, () => checkAlert(asked, ways, io.signal))
		for (const line of checked.lines) io.out(fitWords(line))
		const isClosed = checked.span === null ? null : await drawBook(checked.span, facts, ways, io)
		const isConfirmed = id.kind === 'unexplained' && isClosed !== null ? !isClosed : checked.isConfirmed
		io.out('')
		io.out(verdictOf(isConfirmed, id))
		return isConfirmed ? exitCodes.done : exitCodes.failed
	} catch (error) {
		throw withWayOut(error)
	} finally {
		await ways.chain.close()
	}
}

const kinds: Readonly<Record<AlertId['kind'], string>> = {
	transfer: 'a transfer',
	deployment: 'a deployment',
	token: 'a token transfer',
	withdrawal: 'a withdrawal from staking',
	delegation: 'a delegation (EIP-7702)',
	income: 'priority fees of a block',
	balance: 'a balance that crossed a threshold',
	unexplained: 'a change of the balance that nothing told of explains',
}

function verdictOf(isConfirmed: boolean, { kind }: AlertId): string {
	if (kind === 'unexplained') {
		return isConfirmed
			? 'Confirmed: the balance still moves by what no frame, fee or payment of the chain accounts for.'
			: 'EXPLAINED BY NOW: the books of these blocks close, so this alert stands no more.'
	}
	return isConfirmed
		? 'Confirmed: the node says the same now.'
		: 'NOT CONFIRMED: the node does not say so now; what left the chain is retracted by `alert.removed`.'
}

/** All that moves the address in these blocks, checked against the balance; whether it closes. */
async function drawBook(
	span: Span,
	facts: Parameters<typeof createStatementPrinter>[1],
	ways: Pick<ReturnType<typeof openChain>, 'chain' | 'accounts'>,
	io: Io,
): Promise<boolean> {
	io.out('')
	io.out(span.from === span.to ? `The book of block ${span.to}:` : `The book of blocks ${span.from} to ${span.to}:`)
	const printer = createStatementPrinter('table', facts)
	let isClosed = false
	for await (const item of statementOf(facts.address, span, ways, io.signal)) {
		if (item.item === 'read') continue
		for (const line of printer.linesOf(item)) io.out(line)
		if (item.item === 'closing') isClosed = item.balanceWei === item.explainedWei
	}
	return isClosed
}

/** The alert as it was sent last, alone or in a digest; null where nothing is kept of it. */
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
