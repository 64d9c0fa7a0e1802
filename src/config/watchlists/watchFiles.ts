import { stat } from 'node:fs/promises'
import { pause } from '../../base/waits/wait.js'
import { revisionNow } from './revision.js'

export interface WatchFilesOptions {
	/**
	 * Returns the files to watch; called at each look. A throw counts as no files, since a folder may be missing for a
	 * moment.
	 */
	readonly paths: () => readonly string[]
	/** Called when contents or names are others than those of `revision`, and have stayed unchanged for `settleMs`. */
	readonly onChange: (revision: string) => void
	/** The revision that the caller has read last, with or without problems. Asked at every look. */
	readonly revision: () => string
	/** Pause between looks. Default: 2000. */
	readonly intervalMs?: number
	/** How long the files must stay unchanged before a change counts. Default: 500. */
	readonly settleMs?: number
	/** Resolves after that time or when the signal aborts; never rejects. */
	readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
	readonly signal: AbortSignal
}

/**
 * Watches files by polling, because only polling sees every way of saving: in place, rename over, remove and create,
 * truncate and write slowly, symlink swap. Each look makes one `stat` a file, through symlinks. The contents are read
 * only when the stats have changed and are the same twice. Resolves when the signal aborts.
 */
export async function watchFiles(options: WatchFilesOptions): Promise<void> {
	const { onChange, revision, intervalMs = 2_000, settleMs = 500, sleep = pause, signal } = options
	const paths = () => {
		try {
			return options.paths()
		} catch {
			return []
		}
	}
	let before: string | null = null
	/** The contents that were read last, and the stamp that they had. */
	let [settled, present]: [string | null, string] = [null, revision()]
	/** The last change that was reported. */
	let called = ''
	for (;;) {
		await sleep(before === settled ? intervalMs : settleMs, signal)
		if (signal.aborted) return
		const stamp = await stampOf(paths())
		if (stamp !== settled && stamp === before) {
			const read = await revisionNow(paths(), signal)
			// A write between the stat and the read could give half a file, so look again.
			if (read !== null && (await stampOf(paths())) === stamp) [settled, present] = [stamp, read]
		}
		before = stamp
		// The caller may have finished reading contents that were replaced meanwhile.
		const known = revision()
		if (stamp !== settled || present === known || called === `${present} ${known}`) continue
		called = `${present} ${known}`
		onChange(present)
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
