import { fitWords } from '../base/text/outgoing.js'
import { isLagUnknown } from '../core/networkLine.js'
import { byQueue } from '../core/outbox/queue.js'
import { inSendingOrder } from '../core/outbox/urgency.js'
import { holdersOf } from '../core/outbox/waiting.js'
import type { Store } from '../model/ports.js'
import type { Health } from '../model/trouble.js'
import type { ChangeRequest, ControlReply, ControlRequest } from '../ops/controlSocket.js'
import { inWords } from './cleanedStore.js'

/** Carries out the requests that commands send to the running daemon. */
export function answerControl(
	store: Store,
	health: () => Promise<Health>,
	clean: (text: string) => string,
): (request: ControlRequest) => Promise<ControlReply> {
	return async (request) => {
		if (request.act !== 'health') return { count: await carryOut(store, request) }
		const { ok, reason, reasons = [], failing = [], failures = [], stuck = [], networks } = await health()
		const heads = networks.filter(isLagUnknown).map((one) => ({ ...one, reason: null }))
		const facts = {
			...{ ok, reason },
			...(reasons.length > 1 && { reasons }),
			...(failing.length > 0 && { failing }),
			...(failures.length > 0 && { failures }),
			...(stuck.length > 0 && { stuck }),
			...(heads.length > 0 && { heads }),
		}
		return { health: inWords(facts, (words) => fitWords(clean(words))) }
	}
}

/** Resolves to how many deliveries or gaps were changed. */
export async function carryOut(store: Store, request: ChangeRequest): Promise<number> {
	const atMs = Date.now()
	switch (request.act) {
		case 'mark-gaps':
			return await store.markGaps(request.network, request.blocks.map(BigInt), { act: request.mark, atMs })
		case 'retry':
			return await retryNow(store, request.ids, atMs)
		case 'drop':
			return await store.drop(request.ids)
	}
}

/** Also retries what is before them in their queues, which are sent in order. Resolves to how many `ids` exist. */
async function retryNow(store: Store, ids: readonly string[], atMs: number): Promise<number> {
	const asked = new Set(ids)
	const queues = [...byQueue(await store.deliveries('pending')).values()]
	const before = queues.flatMap((queue) => holdersOf(inSendingOrder(queue), asked)).map(({ id }) => id)
	const [count] = await Promise.all([store.retry(ids, atMs), store.retry(before, atMs)])
	return count
}
