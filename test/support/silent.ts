import type { Log } from '../../src/model/ports.js'

/** A log that no one reads. */
export const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
