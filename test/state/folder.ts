/** Folders of their own for tests of the file store. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function makeFolder(): Promise<string> {
	return await mkdtemp(join(tmpdir(), 'tracewatch-state-'))
}

export async function removeFolder(folder: string): Promise<void> {
	await rm(folder, { recursive: true, force: true })
}
