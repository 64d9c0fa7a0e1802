/**
 * V8 flags for a small program that runs for months. With 100,000 watches on Node 20 they lower the peak memory by a
 * quarter.
 */

import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's space for new objects at its initial size. By default V8 doubles it, up to 48 MB, while many allocated
 * objects survive, as during a start. At the start it must be called before other modules are loaded.
 */
export function keepYoungSmall(): void {
	setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets V8 double that space again, which saves a quarter of the processor time when large answers are read. */
export function letYoungGrow(): void {
	setFlagsFromString('--semi-space-growth-factor=2')
}
