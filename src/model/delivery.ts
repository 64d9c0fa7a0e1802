/** A message on its way to a receiver. */
import type { Message } from './alert.js'

/** `pending`: until it is delivered or dead. `dead`: given up, and kept. */
export type DeliveryStatus = 'pending' | 'dead'

/**
 * As operators are shown it. `held`: pending, and waits for a digest. `parked`: pending, and its receiver refuses
 * everything; one message is tried after each pause.
 */
export type ShownStatus = DeliveryStatus | 'held' | 'parked'

/** Why an attempt failed, as far as it matters for what comes next; the reason in words is for people. */
export type ReasonCode =
	/** No answer, or one that means: later. */
	| 'failed'
	| 'refused'
	/** Refused before the server saw a message: login, TLS. */
	| 'login-refused'
	/** The receiver fails at this message and accepts others (`core/outbox/waiting.ts`). */
	| 'message-failed'
	| 'no-recipient'
	| 'expired'

/** Of a delivery: a receiver, or one of its mailboxes. */
export type Addressee = Pick<Delivery, 'receiver' | 'recipient'>

export interface Delivery {
	/** Equals `webhook-id`; without a full stop; deterministic. */
	readonly id: string
	readonly receiver: string
	/** Mail address; null where the receiver has no recipients. */
	readonly recipient: string | null
	readonly message: Message
	/** Id of the delivery that this one answers (for a removal, its alert's); null otherwise. */
	readonly answers: string | null
	readonly createdAtMs: number
	readonly status: DeliveryStatus
	readonly attempts: number
	readonly nextAttemptAtMs: number
	/** The last failure in words, without secrets; null before the first. */
	readonly lastError: string | null
	/** Code of the last failure; absent before the first. */
	readonly lastErrorCode?: ReasonCode
	/** Present once the receiver refused it, or rested before it was tried; its fallback was sent the message then. */
	readonly refused?: Refused
	/** Of a retraction: the fallback of the receiver was sent the alert, and gets this, too. */
	readonly instead?: true
	/** Time of the digest that it is sent in; those of one queue with the same time are sent together. */
	readonly digestAtMs?: number
	/** Lowest rank (`urgency.ts`): a new announcement must not overtake the earlier retraction. Absent: the message's. */
	readonly rank?: number
	/** Sent alone, regardless of digest rules. */
	readonly alone?: true
}

/** Refusals of a message; refusals while the receiver refused everything do not count. */
export interface Refused {
	/** Time of the first one; where there is none, since when the message waits for its receiver's rest. */
	readonly sinceMs: number
	readonly times: number
}

export type Resolution =
	/** `answer`: the receiver's answer in a few words, without secrets. */
	| { readonly id: string; readonly result: 'delivered'; readonly answer?: string }
	| {
			readonly id: string
			readonly result: 'retry' | 'dead'
			readonly code: ReasonCode
			readonly error: string
			/** For `retry`: when to try again. */
			readonly nextAttemptAtMs: number
			/** Absent: unchanged. */
			readonly refused?: Refused
			/** Nothing was sent: the number of attempts stays. */
			readonly untried?: true
	  }
	/** Due then, in the digest of that time or alone; the number of attempts stays. */
	| { readonly id: string; readonly result: 'wait'; readonly as: 'digest' | 'alone'; readonly untilMs: number }

export type Outcome =
	/** `answer`: the receiver's answer in a few words, without secrets. */
	| { readonly result: 'delivered'; readonly answer?: string }
	| { readonly result: 'retry'; readonly code: ReasonCode; readonly reason: string; readonly afterMs?: number }
	/** The receiver refused the message: because of the message, of a setting or of a quota. */
	| { readonly result: 'parked'; readonly code: ReasonCode; readonly reason: string }
	| { readonly result: 'dead'; readonly code: ReasonCode; readonly reason: string }
