/**
 * Ids of alerts and deliveries as version 0.1.0 made them, kept as digests in test/fixtures/ids: whoever keeps alerts
 * by their id must find them under the same one after an update. A file there changes only where an alert comes or
 * goes.
 */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** 64 bits of a hash: enough to tell some hundreds apart. */
export function shortDigest(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Holds ids, in whatever order they come, against those on file under this name. */
export async function expectSameIds(ids: readonly string[], name: string): Promise<void> {
	const lines = [`${ids.length} ids`, ...ids.map(shortDigest).sort()]
	await expectOnFile(lines, name)
}

export async function expectOnFile(lines: readonly string[], name: string): Promise<void> {
	const file = fileURLToPath(new URL(`../fixtures/ids/${name}.txt`, import.meta.url))
	await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(file)
}
