import { readFile, stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createRevision } from './revision.js'

export interface WatchFilesOptions {
	/** The files to watch, asked anew at each look; a throw counts as none, for a folder may be gone for a moment. */
	readonly paths: () => readonly string[]
	/** Called when contents or names have changed and been still for `settleMs`; never twice for the same contents. */
	readonly onChange: () => void
	/**
	 * What the caller has read last (`Config.revision`), asked at each change when it is a function: then files that the
	 * caller has read by another way, or has refused, are told rightly. Default: what the files hold at the call.
	 */
	readonly revision?: string | (() => string)
	/** Pause between looks. Default: 2000. */
	readonly intervalMs?: number
	/** How long nothing may move before a change counts. Default: 500. */
	readonly settleMs?: number
	readonly signal: AbortSignal
}

/**
 * Watches files by looking at them, which alone sees every way of saving: in place, rename over, remove and create,
 * truncate and write slowly, symlink swap. A look is one `stat` a file, through symlinks; contents are read only when
 * those moved. Resolves when the signal aborts; never rejects.
 */
export async function watchFiles(options: WatchFilesOptions): Promise<void> {
	const { paths, onChange, intervalMs = 2_000, settleMs = 500, signal } = options
	const list = () => {
		try {
			return paths()
		} catch {
			return []
		}
	}
	// With a revision from before, the first look reads the files, whatever happened since.
	let stamp = options.revision === undefined ? await stampOf(list()) : null
	const asked = options.revision
	let revision = typeof asked === 'function' ? asked() : (asked ?? (await revisionOf(list())))
	for (;;) {
		if (!(await waited(intervalMs, signal))) return
		const moved = await stampOf(list())
		if (moved === stamp) continue
		stamp = moved
		for (;;) {
			if (!(await waited(settleMs, signal))) return
			const now = await stampOf(list())
			const read = await revisionOf(list())
			// A write between look and read would give half a file: then wait for stillness once more.
			if (now === stamp && (await stampOf(list())) === now) {
				if (read !== (typeof asked === 'function' ? asked() : revision)) {
					revision = read
					onChange()
				}
				break
			}
			stamp = now
		}
	}
}

/** What the file system says of the files: moves whenever one of them may have changed. */
async function stampOf(paths: readonly string[]): Promise<string> {
	const stamps = await Promise.all(
		paths.map(async (path) => {
			try {
				const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
				return `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
			} catch {
				return `${path} absent`
			}
		}),
	)
	return stamps.join('\n')
}

async function revisionOf(paths: readonly string[]): Promise<string> {
	const revision = createRevision()
	for (const path of paths) revision.add(path, await readFile(path).catch(() => null))
	return revision.value()
}

/** False when the signal ended the wait. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
	try {
		await pause(ms, undefined, { signal })
		return true
	} catch {
		return false
	}
}
