/**
 * The last 24 hours in memory: the lag of each network, the number of alerts, the newest alerts, the last result of
 * each receiver.
 */

import { isImitation } from '../core/outbox/urgency.js'
import { recordOf } from '../kinds/all.js'
import type { AlertData, DigestedAlert } from '../model/alert.js'
import type { Outcome } from '../model/delivery.js'
import type { Address, Clock } from '../model/glossary.js'

export const bucketMs = 10 * 60_000
export const buckets = 144
const mostLastEvents = 100_000
const mostLatest = 12

/** An alert or a retraction, and when it was detected. */
export interface LatestAlert {
	readonly type: DigestedAlert['type']
	readonly data: AlertData
	readonly atMs: number
}

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
	/** Called after a poll with the number of blocks between the checkpoint and its target. */
	lagged(network: string, blocks: number): void
	alerted(alert: AlertData, atMs: number): void
	retracted(alert: AlertData, atMs: number): void
	requested(network: string, endpoint: string): void
	attempted(receiver: string, outcome: Outcome): void
	/** The largest lag in each 10 minutes of the last 24 hours, oldest first; null where there was no poll. */
	lags(network: string): readonly (number | null)[]
	/** The number of alerts in each of the same spans. */
	alerts(): readonly number[]
	/** How many of them were alarms. */
	alarms(): readonly number[]
	/** The newest alerts and retractions, newest first, at most 12. */
	latest(): readonly LatestAlert[]
	/** Host of the endpoint that answered last; null before the first answer. */
	endpoint(network: string): string | null
	lastWord(receiver: string): LastWord | null
	/** The newest alert of a watch since this process started. */
	lastEvent(network: string, address: Address): LastEvent | null
}

export function createActivity(clock: Clock): Activity {
	const lags = new Map<string, Map<number, number>>()
	const alerts = new Map<number, number>()
	const alarms = new Map<number, number>()
	let latest: readonly LatestAlert[] = []
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

	const count = (values: Map<number, number>, atMs: number) => {
		const bucket = Math.floor(atMs / bucketMs)
		values.set(bucket, (values.get(bucket) ?? 0) + 1)
		forget(values)
	}
	const remember = (one: LatestAlert) => {
		const [last] = latest.slice(-1)
		if (last !== undefined && latest.length === mostLatest && last.atMs >= one.atMs) return
		latest = [one, ...latest].sort((a, b) => b.atMs - a.atMs).slice(0, mostLatest)
	}

	return {
		lagged(network, blocks) {
			const own = lags.get(network) ?? new Map<number, number>()
			lags.set(network, own)
			own.set(now(), Math.max(own.get(now()) ?? 0, blocks))
			forget(own)
		},
		alerted(data, atMs) {
			const { id, network, watch, kind } = data
			count(alerts, atMs)
			if (isImitation(data) || recordOf(kind).alarm !== null) count(alarms, atMs)
			remember({ type: `alert.${kind}`, data, atMs })
			const key = `${network} ${watch.address.toLowerCase()}`
			if ((events.get(key)?.atMs ?? 0) > atMs) return
			events.delete(key)
			events.set(key, { atMs, id })
			if (events.size <= mostLastEvents) return
			const [oldest] = events.keys()
			if (oldest !== undefined) events.delete(oldest)
		},
		retracted: (data, atMs) => remember({ type: 'alert.removed', data, atMs }),
		requested: (network, endpoint) => void endpoints.set(network, endpoint),
		attempted(receiver, outcome) {
			const said = outcome.result === 'delivered' ? (outcome.answer ?? 'took it') : outcome.reason
			words.set(receiver, { atMs: clock(), result: outcome.result, words: said })
		},
		lags: (network) => series<number | null>(lags.get(network) ?? new Map(), null),
		alerts: () => series(alerts, 0),
		alarms: () => series(alarms, 0),
		latest: () => latest,
		endpoint: (network) => endpoints.get(network) ?? null,
		lastWord: (receiver) => words.get(receiver) ?? null,
		lastEvent: (network, address) => events.get(`${network} ${address}`) ?? null,
	}
}
