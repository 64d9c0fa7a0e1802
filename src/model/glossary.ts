/**
 * The room has the types and ports of the whole program. The glossary below holds for code, logs and documents.
 *
 * What is watched
 * - watchlist: a YAML file. Watch: one address with its options, from one watchlist.
 * - coverage: the blocks in which an address is watched. Missed: spans of it that were not scanned yet when the address
 *   left the watchlists.
 * - backfill: a span that is scanned for some addresses only.
 *
 * What is read
 * - head: the newest block a node knows. Target: head minus confirmations.
 * - checkpoint: the last block scanned. Settled: the last block that was read a second time.
 * - span: a range of blocks, both ends included. Part: the answer for a piece of a span.
 * - frame: one call, creation or self-destruct inside a transaction, or one block reward.
 *
 * What is sent
 * - event: something that happened on chain. Alert: event × watched address.
 * - announced: the alert's deliveries are in the state, with the checkpoint. Retracted: announced, and then its event
 *   left the chain; `alert.removed` says so. Revision: how often an alert was retracted or announced again.
 * - receiver: where alerts go. Delivery: alert × receiver (× recipient of a mail), with its attempts.
 * - queue: the deliveries of one receiver and recipient, sent in order.
 * - sent: handed to the receiver, at least once. Delivered: accepted by the receiver.
 * - held: pending until the time of a digest, and then sent in one message with the others of that time.
 * - paused: a receiver that refuses everything, tried with one message a pause; what waits is shown as `parked`.
 * - dead letter: a delivery that was given up and is kept, `dead`.
 * - unconfigured: a receiver that the configuration no longer names.
 *
 * What does it
 * - poll: one run from the checkpoint to the target. Poll session: the progress of a poll. Network poller: polls one
 *   network, one poll at a time.
 * - lease: the right of one instance to poll a network; acquired and released.
 * - capabilities: the calls an endpoint was found to support. Span size: blocks per request. Width: number of
 *   concurrent requests to an endpoint.
 * - enrolment: the change of coverage that follows a change of the watches. Enrolment basis: the part of the state that
 *   an enrolment is computed from.
 * - time slice: a piece of long work, after which other work can run. Round: one pass that asks about each address
 *   once.
 * - progress: whether one network advances. Poll timing: the poll interval, and how long a silence counts as a stall.
 *
 * What proves it
 * - book: the balance of one address at the block up to which the book is closed, and its movements since. Movement:
 *   what one frame, fee or posting adds to a balance. Posting: what the chain itself pays or takes, without a frame.
 *   Sheet: several books in one database row.
 * - finding: a span whose movements do not explain the balance. Witness: the span as another source reads it.
 *
 * Amounts and block numbers are `bigint`, in wei and blocks. Addresses and hashes are lower case hex with `0x`.
 * This folder has types, readonly data and ports, and no code.
 */

export type Hex = `0x${string}`

/** 20 bytes, lower case. */
export type Address = Hex

/** 32 bytes, lower case. */
export type Hash = Hex

/** Wall clock, in milliseconds since 1970. */
export type Clock = () => number
