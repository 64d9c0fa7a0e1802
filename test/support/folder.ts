/** Folders for tests, gone when the file that made them has run. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { atEndOfFile } from './leftovers.js'

/** An empty one, below the system's folder for temporary files; for a test, or for a hook before it. */
export function temporaryFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), 'tracewatch-test-'))
	atEndOfFile(() => rmSync(folder, { recursive: true, force: true }))
	return folder
}

/** Files by their name below the folder; what lies above them is made. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
	for (const [name, text] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, name)), { recursive: true })
		writeFileSync(join(folder, name), text)
	}
}
