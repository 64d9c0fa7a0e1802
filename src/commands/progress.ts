import type { Span } from '../model/chain.js'
import type { Io } from './command.js'

/** Before a person wonders. */
const SILENT_MS = 2_000
const REDRAWN_EACH_MS = 250
const BAR_CELLS = 20

/** How far a span is read. */
export interface Progress {
	/** Blocks up to this one, included, are done. */
	at(block: bigint): void
	/** Takes the line away, so that others can be written in its place. */
	clear(): void
	end(): void
}

/** A line on a terminal that says what goes on. */
export interface StatusLine {
	clear(): void
	end(): void
}

export interface ProgressOptions {
	/** Nothing is shown before. Default: 2 s. */
	readonly afterMs?: number
	/** Where it is drawn. Default: standard error. */
	readonly to?: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>
}

/**
 * Draws what `words` says on the last line of a terminal, after two seconds and then four times a second; nothing where
 * standard error is no terminal. Whoever prints meanwhile clears it first. It holds no finished program up.
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
		// A line that wraps could not be taken away. A terminal that does not know its width says 0.
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

/** A bar for a span of blocks; no block of it is done yet. */
export function createProgress(span: Span, options: ProgressOptions = {}): Progress {
	const total = Number(span.to - span.from) + 1
	let done = 0
	const line = createStatusLine((seconds) => {
		const cells = Math.floor((BAR_CELLS * done) / total)
		const bar = `[${'#'.repeat(cells)}${'-'.repeat(BAR_CELLS - cells)}]`
		const rate = done / seconds
		const left = done === 0 ? '' : `, ${Math.round(rate)} blocks/s, ${Math.round((total - done) / rate)} s left`
		return `${bar} ${done} of ${total} blocks${left}`
	}, options)
	return {
		at(block) {
			done = Number(block - span.from) + 1
		},
		clear: line.clear,
		end: line.end,
	}
}

/** The same outside, but that what it prints does not mix with the line. */
export function beside(line: Pick<StatusLine, 'clear'>, io: Io): Io {
	const before =
		(print: (text: string) => void) =>
		(text: string): void => {
			line.clear()
			print(text)
		}
	return { ...io, out: before(io.out), err: before(io.err) }
}

/** Does the work, and says after two seconds what it is that takes so long. */
export async function whileWaiting<T>(what: string, work: () => Promise<T>, options?: ProgressOptions): Promise<T> {
	const line = createStatusLine((seconds) => `${what}, ${Math.round(seconds)} s …`, options)
	try {
		return await work()
	} finally {
		line.end()
	}
}
