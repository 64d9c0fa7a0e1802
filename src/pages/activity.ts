/** What happened in the last day, in memory: the lag of each network, alerts, the last word of each receiver. */

import type { AlertData } from '../model/alert.js'
import type { Outcome } from '../model/delivery.js'
import type { Address, Clock } from '../model/glossary.js'

export const bucketMs = 10 * 60_000
export const buckets = 144
const mostLastEvents = 100_000

export interface LastWord {
	readonly atMs: number
	readonly result: Outcome['result']
	readonly words: string
}

export interface LastEvent {
	readonly atMs: number
	readonly id: string
}

export interface Activity {
	/** After a poll: how far the checkpoint is behind its target, in blocks. */
	lagged(network: string, blocks: number): void
	alerted(alert: AlertData, atMs: number): void
	requested(network: string, endpoint: string): void
	attempted(receiver: string, outcome: Outcome): void
	/** Largest lag of each span of ten minutes of the last day, oldest first; null where nothing was seen. */
	lags(network: string): readonly (number | null)[]
	/** Alerts of each of them. */
	alerts(): readonly number[]
	/** Host that answered last; null before the first. */
	endpoint(network: string): string | null
	lastWord(receiver: string): LastWord | null
	/** The newest alert of a watch that this process knows of. */
	lastEvent(network: string, address: Address): LastEvent | null
}

export function createActivity(clock: Clock): Activity {
	const lags = new Map<string, Map<number, number>>()
	const alerts = new Map<number, number>()
	const endpoints = new Map<string, string>()
	const words = new Map<string, LastWord>()
	const events = new Map<string, LastEvent>()

	const now = () => Math.floor(clock() / bucketMs)
	const series = <T>(values: ReadonlyMap<number, T>, blank: T): readonly T[] => {
		const last = now()
		return Array.from({ length: buckets }, (_, at) => values.get(last - buckets + 1 + at) ?? blank)
	}
	const forget = (values: Map<number, number>) => {
		for (const bucket of values.keys()) if (bucket <= now() - buckets) values.delete(bucket)
	}

	return {
		lagged(network, blocks) {
			const own = lags.get(network) ?? new Map<number, number>()
			lags.set(network, own)
			own.set(now(), Math.max(own.get(now()) ?? 0, blocks))
			forget(own)
		},
		alerted({ id, network, watch }, atMs) {
			const bucket = Math.floor(atMs / bucketMs)
			alerts.set(bucket, (alerts.get(bucket) ?? 0) + 1)
			forget(alerts)
			const key = `${network} ${watch.address.toLowerCase()}`
			if ((events.get(key)?.atMs ?? 0) > atMs) return
			events.delete(key)
			events.set(key, { atMs, id })
			if (events.size <= mostLastEvents) return
			const [oldest] = events.keys()
			if (oldest !== undefined) events.delete(oldest)
		},
		requested: (network, endpoint) => void endpoints.set(network, endpoint),
		attempted(receiver, outcome) {
			const said = outcome.result === 'delivered' ? (outcome.answer ?? 'took it') : outcome.reason
			words.set(receiver, { atMs: clock(), result: outcome.result, words: said })
		},
		lags: (network) => series<number | null>(lags.get(network) ?? new Map(), null),
		alerts: () => series(alerts, 0),
		endpoint: (network) => endpoints.get(network) ?? null,
		lastWord: (receiver) => words.get(receiver) ?? null,
		lastEvent: (network, address) => events.get(`${network} ${address}`) ?? null,
	}
}
