/**
 * The room has every word and every border of the program, as types and ports. Here is the glossary: these words are
 * used alike in code, logs and documents.
 *
 * What is watched
 * - watchlist: a YAML file. Watch: one address with its options, from one watchlist.
 * - coverage: from which block on an address is watched. Missed: what was still to be scanned for it when it left the
 *   watchlists.
 * - backfill: a span scanned for some addresses apart from the rest.
 *
 * What is read
 * - head: the newest block a node knows. Target: head less confirmations.
 * - checkpoint: the last block scanned. Settled: the last block that was looked at a second time.
 * - span: a range of blocks, both ends included. Part: a piece of a span, as it was read.
 * - frame: one call, creation or self-destruct inside a transaction, or one reward of a block.
 *
 * What is said
 * - event: what really happened on chain. Alert: event × watched address.
 * - announced: its deliveries are written down, with the checkpoint. Retracted: announced, and then its event left the
 *   chain; `alert.removed` says so. Revision: how often an alert was retracted or announced anew.
 * - told: of people, that they are notified; what a node answers is given, and what is wrong in a file is reported.
 * - receiver: where alerts go. Delivery: alert × receiver (× recipient of a mail), with its attempts.
 * - queue: the deliveries of one receiver and recipient, sent in order.
 * - sent: handed to the receiver, at least once. Delivered: the receiver took it.
 * - deferred: kept back by a digest or a silence; its public status is `held`.
 * - suspended: a queue whose receiver takes nothing until a person has fixed something; its deliveries are `parked`.
 * - dead letter: a delivery that is given up and kept, `dead`.
 * - unconfigured: of a receiver that the configuration names no more.
 * - split: a digest that was refused, sent on as the alerts in it.
 *
 * Who does it
 * - poll: one way from the checkpoint to the target. Poll session: where a poll stands. Network poller: polls one
 *   network, never twice at a time.
 * - lease: the right of one instance to poll a network; acquired and released.
 * - capabilities: what an endpoint was found able to do. Span size: how many blocks it is asked for at once. Width: how
 *   many requests are under way there at once.
 * - enrolment: the change of coverage that a change of the watches makes. Enrolment basis: what of the state it is
 *   made from.
 * - time slice: a piece of long work, after which everything else may go on. Round: each address is asked about once
 *   in it.
 * - progress: what is known of whether one network goes on. Poll timing: how often it is polled, and what silence is a
 *   stall.
 *
 * How it is proved
 * - book: of one address, closed up to a block: its balance, and what moved since. Movement: what one frame, fee or
 *   posting adds to a balance. Posting: what the chain itself pays or takes, without a frame. Sheet: some books in one
 *   row of a database.
 * - finding: blocks whose movements do not explain the balance. Witness: the span as another source reads it.
 *
 * Amounts and block numbers are `bigint`, in wei and blocks. Addresses and hashes are lower case hex with `0x`.
 * This folder is plain, readonly data and ports; there is no code in it.
 */

export type Hex = `0x${string}`

/** 20 bytes, lower case. */
export type Address = Hex

/** 32 bytes, lower case. */
export type Hash = Hex

/** Wall clock in milliseconds since 1970; tests bring their own. */
export type Clock = () => number
