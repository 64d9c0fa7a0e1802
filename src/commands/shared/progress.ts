import type { Io } from '../command.js'

/** A command that takes longer shows its progress. */
const SILENT_MS = 2_000
const REDRAWN_EACH_MS = 250

/** A status line on a terminal. */
export interface StatusLine {
	clear(): void
	end(): void
}

export interface ProgressOptions {
	/** Time before the line is first shown. Default: 2 s. */
	readonly afterMs?: number
	/** The stream that it is drawn on. Default: standard error. */
	readonly to?: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>
}

/**
 * Draws `words` on the last line of a terminal, first after 2 s, then every 250 ms. Draws nothing when the stream is no
 * terminal. Callers must call `clear` before they print other lines. Its timer does not keep the process alive.
 */
export function createStatusLine(
	words: (seconds: number) => string,
	{ afterMs = SILENT_MS, to = process.stderr }: ProgressOptions = {},
): StatusLine {
	if (to.isTTY !== true) return { clear() {}, end() {} }
	const startedAtMs = Date.now()
	let shown = false
	const clear = () => {
		if (shown) to.write('\r\u001b[2K')
		shown = false
	}
	const draw = () => {
		const tookMs = Date.now() - startedAtMs
		if (tookMs < afterMs) return
		// A line that wraps could not be removed. `columns` is 0 on terminals that do not know their width.
		const text = words(Math.max(0.001, tookMs / 1_000)).slice(0, Math.max(20, (to.columns || 80) - 1))
		to.write(`\r\u001b[2K${text}`)
		shown = true
	}
	const timer = setInterval(draw, REDRAWN_EACH_MS)
	timer.unref()
	return {
		clear,
		end() {
			clearInterval(timer)
			clear()
		},
	}
}

/** The same Io, except that the status line is cleared before each line that is printed. */
export function beside(line: Pick<StatusLine, 'clear'>, io: Io): Io {
	const before = (print: (text: string) => void) => (text: string) => {
		line.clear()
		print(text)
	}
	return { ...io, out: before(io.out), err: before(io.err) }
}

/** Does the work; after 2 s a status line shows what takes so much time. */
export async function whileWaiting<T>(what: string, work: () => Promise<T>, options?: ProgressOptions): Promise<T> {
	const line = createStatusLine((seconds) => `${what}, ${Math.round(seconds)} s …`, options)
	try {
		return await work()
	} finally {
		line.end()
	}
}
