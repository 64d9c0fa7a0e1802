/** A message on its way to a receiver. */
import type { Message } from './alert.js'

/**
 * `held`: kept back by a digest or a silence, from which it is let go together with others. Only `pending` ones are
 * tried.
 */
export type DeliveryStatus = 'pending' | 'held' | 'parked' | 'dead'

export type HeldBy = 'digest' | 'silence'

/**
 * Why an attempt did not succeed, for code to compare: the words beside it are for people, and repeat the other side's.
 * From one receiver the same code is the same news. They stand in the state: never rename one.
 */
export type ReasonCode =
	/** Ours: cut off by our stop; a fault inside; no recipient in a mail's delivery; given up after its time. */
	| 'stopped'
	| 'internal'
	| 'no-recipient'
	| 'expired'
	/** The way there: not reached, or no answer in time; no TLS; no login that we can use; an answer that broke off. */
	| 'no-answer'
	| 'no-tls'
	| 'no-login'
	| 'broken-off'
	/** What the other side said, by the table of `policy.ts` or by the format of a service. */
	| 'moved'
	| 'not-found'
	| 'removed'
	| 'no-post'
	| 'wrong-format'
	| 'login-refused'
	| 'login-wanted'
	| 'not-served'
	| 'sending-refused'
	| 'sender-refused'
	| 'recipient-refused'
	| 'message-refused'
	| 'too-large'
	| 'too-early'
	| 'too-many'
	| 'later'
	| 'out-of-step'
	| 'server-failed'
	/** The other side fails at this one and takes others: it is set aside (`core/aside.ts`). */
	| 'message-failed'
	| 'unconfirmed'
	| 'chat-unreachable'
	| 'unexpected'

export interface Delivery {
	/** Equals `webhook-id`; no full stop in it; deterministic. */
	readonly id: string
	readonly receiver: string
	/** Mail address; null where the receiver has no recipients. */
	readonly recipient: string | null
	readonly message: Message
	/** Id of the delivery that this one answers (a removal its alert); null otherwise. */
	readonly answers: string | null
	readonly createdAtMs: number
	readonly status: DeliveryStatus
	readonly attempts: number
	readonly nextAttemptAtMs: number
	/** Last failure in words, scrubbed; null before the first. */
	readonly lastError: string | null
	/** Of the last failure; absent before the first, and where version 0.1.0 wrote it down. */
	readonly lastErrorCode?: ReasonCode
	/** Only while it is held. */
	readonly heldBy?: HeldBy
	/** Goes out by itself, whatever digests and silences say. */
	readonly alone?: true
}

export type Resolution =
	/** `answer`: what the receiver said, in a few words without secrets. */
	| { readonly id: string; readonly result: 'delivered'; readonly answer?: string }
	| {
			readonly id: string
			readonly result: 'retry' | 'parked' | 'dead'
			readonly code: ReasonCode
			/** In words. */
			readonly error: string
			/** Only for `retry`. */
			readonly nextAttemptAtMs: number
	  }
	/** Not tried: kept back until then, or until somebody says otherwise. */
	| { readonly id: string; readonly result: 'held'; readonly by: HeldBy; readonly untilMs: number }
	/** These take its place, in this order; ids that are there already are not added again. */
	| { readonly id: string; readonly result: 'split'; readonly into: readonly Delivery[] }

/** What came of one attempt; whoever saw the answer says whether another can help. */
export type Outcome =
	/** `answer`: what the receiver said, in a few words without secrets. */
	| { readonly result: 'delivered'; readonly answer?: string }
	| { readonly result: 'retry'; readonly code: ReasonCode; readonly reason: string; readonly afterMs?: number }
	/** Nothing more can be sent until a person has fixed something. */
	| { readonly result: 'parked'; readonly code: ReasonCode; readonly reason: string }
	/** This one message will never be taken. */
	| { readonly result: 'dead'; readonly code: ReasonCode; readonly reason: string }
