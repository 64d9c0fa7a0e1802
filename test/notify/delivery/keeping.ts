/** Receivers that keep what they were sent and when, and deliverers with a digest of five a minute. */

import type { DigestData, Message } from '../../../src/model/alert.js'
import type { Delivery, Outcome } from '../../../src/model/delivery.js'
import type { Receiver } from '../../../src/model/ports.js'
import { createDeliverer, type DelivererOptions } from '../../../src/notify/delivery/deliverer.js'
import { keptLog, startMs } from '../samples.js'
import type { Lab } from './lab.js'

export const minuteMs = 60_000
export const fine: Outcome = { result: 'delivered' }
export const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

/** One message as it came: when (since the start), under which id, with the ids of what is in it. */
export interface Got {
	readonly atMs: number
	readonly id: string
	readonly type: Message['type']
	readonly inside: readonly string[]
	readonly message: Message
}

export interface Keeping extends Receiver {
	readonly got: readonly Got[]
}

export function insideOf({ data }: Pick<Message, 'data'>): readonly string[] {
	if ('alerts' in data) return (data as DigestData).alerts.map((alert) => alert.data.deliveryId)
	return [data.deliveryId]
}

export const inside = (got: readonly Got[]) => got.flatMap((one) => one.inside)
export const sizes = (got: readonly Got[]) => got.map((one) => one.inside.length)

export function keeping(
	lab: Lab,
	answer: (delivery: Delivery) => Outcome = () => fine,
	rest: Partial<Receiver> = { takesDigest: () => true },
): Keeping {
	const got: Got[] = []
	return {
		name: 'hook',
		recipients: null,
		got,
		async deliver(delivery) {
			const { id, message } = delivery
			const outcome = answer(delivery)
			if (outcome.result === 'delivered') {
				got.push({ atMs: lab.nowMs - startMs, id, type: message.type, inside: insideOf(message), message })
			}
			return outcome
		},
		close: async () => undefined,
		...rest,
	}
}

/** On the lab's store and clock. */
export function delivererOf(lab: Lab, receivers: readonly Receiver[], rest: Partial<DelivererOptions> = {}) {
	return createDeliverer({
		store: lab.store,
		clock: lab.clock,
		log: keptLog(),
		receivers,
		optionsOf: () => ({ fallback: null, digest: { everyMs: minuteMs, max: 5 } }),
		random: () => 0.5,
		...rest,
	})
}

/** Runs, moving the clock, until nothing is kept any more but the dead. */
export async function runOut(lab: Lab, receivers: readonly Receiver[], rest: Partial<DelivererOptions> = {}) {
	const done = new AbortController()
	await delivererOf(lab, receivers, { sleep: lab.sleeper(done), ...rest }).run(done.signal)
}
