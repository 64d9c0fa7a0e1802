import { stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { type Content, fileDigest, revisionOf } from './revision.js'

export interface WatchFilesOptions {
	/** The files to watch, asked anew at each look; a throw counts as none, for a folder may be gone for a moment. */
	readonly paths: () => readonly string[]
	/** Called when contents or names have changed and been still for `settleMs`; never twice for the same contents. */
	readonly onChange: () => void
	/**
	 * What the caller has read last, right or wrong, and for whatever cause. Default: what `onChange` was last called
	 * for.
	 */
	readonly revision?: () => string
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
	// With a revision from before, the first look reads the files, whatever happened since.
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
		// Asked at every look: the caller may have ended reading what is no longer there.
		const read = asked?.() ?? reported
		if (present === read || called === `${present} ${read}`) continue
		called = `${present} ${read}`
		reported = present
		onChange()
	}

	/** Waits until nothing moves; null when the signal ended that. */
	async function stillness(): Promise<string | null> {
		for (;;) {
			if (!(await waited(settleMs, signal))) return null
			const now = await stampOf(list())
			const read = await revisionNow(list(), signal)
			// A write between look and read would give half a file: then wait for stillness once more.
			if (now === stamp && (await stampOf(list())) === now) return read
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

async function revisionNow(paths: readonly string[], signal: AbortSignal): Promise<string> {
	const contents: Content[] = []
	for (const path of paths) contents.push({ path, digest: await fileDigest(path, signal) })
	return revisionOf(contents)
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
