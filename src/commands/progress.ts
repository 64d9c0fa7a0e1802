import type { Span } from '../model/chain.js'
import type { Io } from './command.js'

/** One line on a terminal that tells how far a span is scanned; nothing where no person looks. */
export interface Progress {
	at(block: bigint): void
	/** Takes the line away, so that others can be written in its place. */
	clear(): void
	end(): void
}

export interface ProgressOptions {
	/** Nothing is shown before. Default: 0. */
	readonly afterMs?: number
	/** Also where the result goes into a file or a pipe. Default: false. */
	readonly besideFiles?: boolean
}

export function createProgress(
	span: Span,
	io: Io,
	{ afterMs = 0, besideFiles = false }: ProgressOptions = {},
): Progress {
	const { stderr } = process
	if (!(io.isTty || besideFiles) || !stderr.isTTY) return { at() {}, clear() {}, end() {} }
	const startedAtMs = Date.now()
	const total = Number(span.to - span.from) + 1
	let shown = false
	const clear = () => {
		if (shown) stderr.write('\r\u001b[2K')
		shown = false
	}
	return {
		at(block) {
			if (Date.now() - startedAtMs < afterMs) return
			const done = Number(block - span.from) + 1
			const seconds = Math.max(0.001, (Date.now() - startedAtMs) / 1000)
			const rate = done / seconds
			const left = Math.round((total - done) / rate)
			shown = true
			stderr.write(`\r\u001b[2Kblock ${block}: ${done} of ${total}, ${Math.round(rate)} blocks/s, ${left} s left`)
		},
		clear,
		end: clear,
	}
}
