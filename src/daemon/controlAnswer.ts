import { fitWords } from '../base/text/outgoing.js'
import { isLagUnknown } from '../core/networkLine.js'
import type { Store } from '../model/ports.js'
import type { Health } from '../model/trouble.js'
import type { ControlReply, ControlRequest } from '../ops/controlSocket.js'
import { inWords } from './cleanedStore.js'

/** Carries out the requests that commands send to the running daemon. */
export function answerControl(
	store: Store,
	health: () => Promise<Health>,
	clean: (text: string) => string,
): (request: ControlRequest) => Promise<ControlReply> {
	return async (request) => {
		const atMs = Date.now()
		switch (request.act) {
			case 'health': {
				const { ok, reason, reasons = [], stuck = [], networks } = await health()
				const heads = networks.filter(isLagUnknown).map((one) => ({ ...one, reason: null }))
				const facts = {
					...{ ok, reason },
					...(reasons.length > 1 && { reasons }),
					...(stuck.length > 0 && { stuck }),
					...(heads.length > 0 && { heads }),
				}
				return { health: inWords(facts, (words) => fitWords(clean(words))) }
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
