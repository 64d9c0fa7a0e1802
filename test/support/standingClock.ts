/**
 * The clock of a test of a part: it stands, and a test that needs time adds to it. It stands at the start of the
 * process, since a local chain stamps its blocks with the time of the machine.
 */
export const START_MS = Date.now()

/** Milliseconds since 1970. */
export const standingClock = (): number => START_MS
