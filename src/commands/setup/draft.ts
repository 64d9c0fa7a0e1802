/** The answers of a `setup` that was stopped, kept in a file for its owner alone until a later one is done. */

import { readFile, rm, stat } from 'node:fs/promises'
import { z } from 'zod'
import { writeWhole } from './writeWhole.js'

const answers = z.record(z.string(), z.string())

/** The answers at `path`. Empty: there are none, or not of this user alone. */
export async function readDraft(path: string): Promise<Map<string, string>> {
	try {
		const { mode, uid } = await stat(path)
		if ((mode & 0o077) !== 0 || uid !== process.getuid?.()) return new Map()
		return new Map(Object.entries(answers.parse(JSON.parse(await readFile(path, 'utf8')))))
	} catch {
		return new Map()
	}
}

/** Keeps the answers. Returns whether there were any. */
export async function keepDraft(path: string, draft: ReadonlyMap<string, string>): Promise<boolean> {
	if (draft.size === 0) return false
	const text = `${JSON.stringify(Object.fromEntries(draft), null, 2)}\n`
	await writeWhole({ path, text, mode: 0o600, folderMode: 0o700 })
	return true
}

export async function dropDraft(path: string): Promise<void> {
	await rm(path, { force: true })
}
