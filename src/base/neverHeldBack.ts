/**
 * The `highWaterMark` of an answer that undici reads: more than is ever read of one, so that its parser is never
 * paused. When the other side closes while it is, it throws where nobody can catch it, and the process ends:
 * https://github.com/nodejs/undici/issues/5360 (mended in 8, which needs a newer Node).
 */
export const neverHeldBack = 16 * 1024 * 1024
