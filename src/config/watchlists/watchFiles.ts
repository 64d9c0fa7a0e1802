import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { type Content, fileDigest, revisionOf } from './revision.js'

export interface WatchFilesOptions {
	/**
	 * Returns the files to watch; called at each look. A throw counts as no files, since a folder may be missing for a
	 * moment.
	 */
	readonly paths: () => readonly string[]
	/**
	 * Called when contents or names have changed and then stayed unchanged for `settleMs`. Never called twice for the
	 * same contents.
	 */
	readonly onChange: () => void
	/**
	 * The revision that the caller has read last, with or without problems. Default: the revision for which `onChange`
	 * was last called.
	 */
	readonly revision?: () => string
	/** Pause between looks. Default: 2000. */
	readonly intervalMs?: number
	/** How long the files must stay unchanged before a change counts. Default: 500. */
	readonly settleMs?: number
	readonly signal: AbortSignal
}

/**
 * Watches files by polling, because only polling sees every way of saving: in place, rename over, remove and create,
 * truncate and write slowly, symlink swap. Each look makes one `stat` a file, through symlinks, and reads the contents
 * only when a stat has changed. Resolves when the signal aborts; never rejects.
 */
export async function watchFiles(options: WatchFilesOptions): Promise<void> {
	try {
		await look(options)
	} catch (error) {
		if (!options.signal.aborted) throw error
	}
}

async function look(options: WatchFilesOptions): Promise<void> {
	const { paths, onChange, intervalMs = 2_000, settleMs = 500, signal } = options
	const list = () => {
		try {
			return paths()
		} catch {
			return []
		}
	}
	const { revision: asked } = options
	// With a given revision, the first look always reads the files.
	let stamp = asked === undefined ? await stampOf(list()) : null
	let present = asked === undefined ? await revisionNow(list(), signal) : asked()
	let reported = present
	let called = ''
	while (await waited(intervalMs, signal)) {
		const moved = await stampOf(list())
		if (moved !== stamp) {
			stamp = moved
			const still = await stillness()
			if (still === null) return
			present = still
		}
		// Asked at every look: the caller may have finished reading contents that were replaced meanwhile.
		const read = asked?.() ?? reported
		if (present === read || called === `${present} ${read}`) continue
		called = `${present} ${read}`
		reported = present
		onChange()
	}

	/** Waits until the files stay unchanged and returns their revision; null when the signal aborted the wait. */
	async function stillness(): Promise<string | null> {
		for (;;) {
			if (!(await waited(settleMs, signal))) return null
			const now = await stampOf(list())
			const read = await revisionNow(list(), signal)
			// A write between the stat and the read could give half a file, so wait again.
			if (now === stamp && (await stampOf(list())) === now) return read
			stamp = now
		}
	}
}

/** Metadata of the files, which changes whenever one of them may have changed. */
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

async function revisionNow(paths: readonly string[], signal: AbortSignal): Promise<string> {
	const contents: Content[] = []
	for (const path of paths) contents.push({ path, digest: await fileDigest(path, signal) })
	return revisionOf(contents)
}

/** False when the signal aborted the wait. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
	try {
		await pause(ms, undefined, { signal })
		return true
	} catch {
		return false
	}
}
