/** A webhook receiver and a mail server that fail in every way they can, by chance, until they are sent to behave. */
import type { Chance } from './chance.js'
import { type Hit, type HookAnswer, type HookServer, resetConnection, startHookServer } from './hookServer.js'
import { type MailAnswer, type MailPhase, type MailServer, startMailServer } from './mailServer.js'

export interface MoodyReceivers {
	readonly hook: HookServer
	readonly mail: MailServer
	/** Requests that were answered with success, to their end as far as this side can tell. */
	readonly taken: ReadonlySet<Hit>
	/** How often each failure was played. */
	readonly failures: ReadonlyMap<string, number>
	/** Called when something arrives, before it is answered. */
	onArrival: (where: 'hook' | 'mail') => void
	/** No failure from now on. */
	behave(): void
	close(): Promise<void>
}

export async function startMoodyReceivers(chance: Chance): Promise<MoodyReceivers> {
	const [hook, mail] = [await startHookServer(), await startMailServer()]
	const taken = new Set<Hit>()
	const failures = new Map<string, number>()
	let behaved = false
	/** True so many times out of a hundred, and counted. */
	const fails = (often: number, what: string) => {
		if (behaved || !chance.percent(often)) return false
		failures.set(what, (failures.get(what) ?? 0) + 1)
		return true
	}

	hook.admit = () => !fails(4, 'webhook cut before reading')
	hook.answer = (hit): HookAnswer => {
		receivers.onArrival('hook')
		if (fails(6, 'webhook 500')) return 500
		if (fails(4, 'webhook 503')) return { status: 503, headers: { 'retry-after': '1' } }
		// It has read all of it, and may well have done its work: to the sender it failed.
		if (fails(6, 'webhook cut after reading')) return resetConnection
		taken.add(hit)
		return 204
	}
	mail.answer = (phase: MailPhase): MailAnswer => {
		if (phase === 'connect' && fails(3, 'mail 421 at the greeting')) return '421 4.3.2 going down'
		if (phase === 'sender' && fails(2, 'mail 421')) return '421 4.7.0 too many connections'
		if (phase === 'recipient' && fails(6, 'mail 450')) return '450 4.2.1 greylisted'
		if (phase !== 'data') return null
		receivers.onArrival('mail')
		if (fails(2, 'mail 451 after DATA')) return '451 4.3.0 try again'
		return fails(6, 'mail cut after DATA') ? 'cut' : null
	}

	const receivers: MoodyReceivers = {
		hook,
		mail,
		taken,
		failures,
		onArrival: () => undefined,
		behave() {
			behaved = true
		},
		async close() {
			await Promise.all([hook.close(), mail.close()])
		},
	}
	return receivers
}
