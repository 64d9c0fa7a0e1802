import { fitWords } from '../base/outgoing.js'
import type { Store } from '../model/ports.js'
import type { ControlReply, ControlRequest } from '../ops/control.js'
import type { Health } from './health.js'

/** What commands ask of the running daemon, done. */
export function answerControl(
	store: Store,
	health: () => Promise<Health>,
	clean: (text: string) => string,
): (request: ControlRequest) => Promise<ControlReply> {
	return async (request) => {
		const atMs = Date.now()
		switch (request.act) {
			case 'health': {
				const { ok, reason, reasons = [] } = await health()
				const fit = (words: string) => fitWords(clean(words))
				const each = reasons.length > 1 ? { reasons: reasons.map(fit) } : {}
				return { health: { ok, reason: reason === null ? null : fit(reason), ...each } }
			}
			case 'accept-gaps':
			case 'retry-gaps': {
				const act = request.act === 'accept-gaps' ? 'accept' : 'retry'
				return { count: await store.markGaps(request.network, request.blocks.map(BigInt), { act, atMs }) }
			}
			case 'retry':
				return { count: await store.retry(request.ids, atMs) }
			case 'drop':
				return { count: await store.drop(request.ids) }
		}
	}
}
