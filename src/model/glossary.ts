/**
 * The glossary. These words are used alike in code, logs and documents.
 *
 * - watchlist: a YAML file.
 * - watch: one address with its options, from one watchlist.
 * - head: the newest block a node knows; target: head less confirmations.
 * - checkpoint: the last block scanned; settled: the last block that was looked at a second time.
 * - span: a range of blocks, both ends included.
 * - frame: one call, creation or self-destruct inside a transaction, or one reward of a block.
 * - event: what really happened on chain; alert: event × watched address.
 * - receiver: where alerts go; delivery: alert × receiver (× recipient of a mail), with its attempts.
 * - lane: the deliveries of one receiver and recipient, carried out in order.
 * - cover: from which block on an address is watched; backfill: a span scanned for some addresses apart from the rest.
 *
 * Amounts and block numbers are `bigint`, in wei and blocks. Addresses and hashes are lower case hex with `0x`.
 * Everything here is plain, readonly data or a port; there is no code in this file. It is longer than others on purpose:
 * whoever reads it knows every word and every border of the program, and need not look for them in twenty places.
 */

export type Hex = `0x${string}`

/** 20 bytes, lower case. */
export type Address = Hex

/** 32 bytes, lower case. */
export type Hash = Hex

/** Wall clock in milliseconds since 1970; tests bring their own. */
export type Clock = () => number
