/** Deliveries for the tests of this room, plain to read in the output. */
import type {
	AlertData,
	DigestData,
	DigestedAlert,
	Message,
	MessageContent,
	SystemData,
	UndeliveredData,
} from '../../src/model/alert.js'
import type { Delivery } from '../../src/model/delivery.js'
import type { Log } from '../../src/model/ports.js'

export const treasury = '0x742d35Cc6634C0532925a3b844Bc454e4438f44e'
export const payer = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
export const txHash = `0x${'ab'.repeat(32)}` as const
export const blockHash = `0x${'cd'.repeat(32)}` as const
/** 2026-11-20 10:00:00 UTC */
export const startMs = Date.UTC(2026, 10, 20, 10)

export function alertData(rest: Partial<AlertData> = {}): AlertData {
	return {
		id: `1:${txHash}:0_1_2:transfer:${treasury.toLowerCase()}`,
		network: 'ethereum',
		chainId: 1,
		blockNumber: 19_000_000,
		blockHash,
		blockTimestamp: '2026-11-20T09:59:48.000Z',
		txHash,
		txIndex: 3,
		traceAddress: [0, 1, 2],
		kind: 'transfer',
		frameType: 'call',
		category: 'internal',
		from: payer,
		to: treasury,
		valueWei: '1500000000000000001',
		value: '1.500000000000000001',
		asset: 'ETH',
		watch: { address: treasury, label: 'Treasury', tags: ['cold', 'main'], watchlist: 'treasury.yaml' },
		direction: 'in',
		finality: 'latest',
		detectedAt: '2026-11-20T10:00:00.000Z',
		lagSeconds: 12,
		late: false,
		links: {
			tx: `https://explorer.example/tx/${txHash}`,
			from: `https://explorer.example/address/${payer}`,
			to: `https://explorer.example/address/${treasury}`,
			block: 'https://explorer.example/block/19000000',
		},
		...rest,
	}
}

export function systemData(rest: Partial<SystemData> = {}): SystemData {
	return {
		id: '1:stalled:19000000',
		network: 'ethereum',
		chainId: 1,
		checkpoint: 19_000_000,
		head: 19_000_200,
		reason: 'No endpoint of ethereum has answered for 10 minutes.',
		...rest,
	}
}

/** Of the alerts of these numbers, each about a transaction of its own. */
export function digestData(alerts: readonly Delivery[], rest: Partial<DigestData> = {}): DigestData {
	return { id: 'digest:0123456789abcdef', alerts: alerts.map(({ message }) => message as DigestedAlert), ...rest }
}

export function undeliveredData(rest: Partial<UndeliveredData> = {}): UndeliveredData {
	return {
		id: 'undelivered:0123456789abcdef',
		receiver: 'ops-hook',
		recipient: null,
		state: 'parked',
		count: 12,
		reason: 'hooks.example answered 410: the receiver has been removed',
		since: '2026-11-20T10:00:00.000Z',
		...rest,
	}
}

export function messageOf(data: MessageContent, type: Message['type'] = 'alert.transfer', id = idOf(1)): Message {
	return { type, timestamp: '2026-11-20T10:00:00.000Z', data: { ...data, deliveryId: id } }
}

/** `msg_` and 32 hex digits. */
export function idOf(number: number): string {
	return `msg_${number.toString(16).padStart(32, '0')}`
}

export function deliveryOf(number: number, rest: Partial<Delivery> = {}): Delivery {
	const id = idOf(number)
	return {
		id,
		receiver: 'hook',
		recipient: null,
		message: messageOf(alertData(), 'alert.transfer', id),
		answers: null,
		createdAtMs: startMs,
		status: 'pending',
		attempts: 0,
		nextAttemptAtMs: startMs,
		lastError: null,
		...rest,
	}
}

/** Each about a transaction of its own. */
export function alertDeliveryOf(number: number, rest: Partial<Delivery> = {}, data: Partial<AlertData> = {}): Delivery {
	const txHash: AlertData['txHash'] = `0x${number.toString(16).padStart(64, '0')}`
	const own = alertData({ id: `1:${txHash}:root:transfer:${treasury.toLowerCase()}`, txHash, ...data })
	return deliveryOf(number, { message: messageOf(own, 'alert.transfer', idOf(number)), ...rest })
}

/** The withdrawal of an alert. */
export function removalOf(number: number, alert: Delivery, rest: Partial<Delivery> = {}): Delivery {
	const { deliveryId: _, ...data } = alert.message.data
	const message = messageOf(data as AlertData, 'alert.removed', idOf(number))
	return { ...alert, id: idOf(number), message, answers: alert.id, ...rest }
}

/** Every text of a body that the service shows, each on a line of its own: of Discord's, content and embeds. */
export function shownBy(body: ReturnType<typeof JSON.parse>): string {
	if (body.content === undefined) return body.text ?? `${body.title}\n${body.message}`
	const embeds: readonly { description?: string; fields: readonly { name: string; value: string }[] }[] = body.embeds
	return [
		body.content,
		...embeds.flatMap(({ description, fields }) => [
			...(description === undefined ? [] : [description]),
			...fields.map(({ name, value }) => `${name}: ${value}`),
		]),
	].join('\n')
}

export function mailDeliveryOf(number: number, recipient: string, rest: Partial<Delivery> = {}): Delivery {
	return deliveryOf(number, { receiver: 'mail', recipient, ...rest })
}

export interface LogLine {
	readonly level: 'debug' | 'info' | 'warn' | 'error'
	readonly facts: Readonly<Record<string, unknown>>
	readonly message: string
}

/** A log that is kept. */
export function keptLog(lines: LogLine[] = []): Log & { readonly lines: readonly LogLine[] } {
	const at = (level: LogLine['level']) => (facts: object, message: string) => {
		lines.push({ level, facts: facts as Record<string, unknown>, message })
	}
	return {
		lines,
		debug: at('debug'),
		info: at('info'),
		warn: at('warn'),
		error: at('error'),
		child: () => keptLog(lines),
	}
}

/** For what must not be stopped. */
export const never: AbortSignal = new AbortController().signal
