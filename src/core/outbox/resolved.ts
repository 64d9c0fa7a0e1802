/** The delivery as it stands once its result is recorded. */

import type { Delivery, Resolution } from '../../model/delivery.js'

type Wait = Extract<Resolution, { readonly result: 'wait' }>

export function resolved(delivery: Delivery, resolution: Exclude<Resolution, { result: 'delivered' }>): Delivery {
	if (resolution.result === 'wait') return waiting(delivery, resolution)
	const { result, code, error, nextAttemptAtMs, refused, untried } = resolution
	return {
		...delivery,
		status: result === 'retry' ? 'pending' : result,
		attempts: delivery.attempts + (untried ? 0 : 1),
		nextAttemptAtMs: result === 'dead' ? delivery.nextAttemptAtMs : nextAttemptAtMs,
		lastError: error,
		lastErrorCode: code,
		...(refused && { refused }),
	}
}

export function waiting(delivery: Delivery, { as, untilMs }: Pick<Wait, 'as' | 'untilMs'>): Delivery {
	const { digestAtMs: _, ...rest } = delivery
	const due = { ...rest, status: 'pending', nextAttemptAtMs: untilMs } as const
	return as === 'digest' ? { ...due, digestAtMs: untilMs } : { ...due, alone: true }
}
