import type { Span } from '../model/chain.js'
import type { Io } from './command.js'

/** One line on a terminal that tells how far a span is scanned; nothing where no person looks. */
export interface Progress {
	at(block: bigint): void
	end(): void
}

export function createProgress(span: Span, io: Io): Progress {
	const { stderr } = process
	if (!io.isTty || !stderr.isTTY) return { at() {}, end() {} }
	const startedAtMs = Date.now()
	const total = Number(span.to - span.from) + 1
	let shown = false
	return {
		at(block) {
			const done = Number(block - span.from) + 1
			const seconds = Math.max(0.001, (Date.now() - startedAtMs) / 1000)
			const rate = done / seconds
			const left = Math.round((total - done) / rate)
			shown = true
			stderr.write(`\r\u001b[2Kblock ${block}: ${done} of ${total}, ${Math.round(rate)} blocks/s, ${left} s left`)
		},
		end() {
			if (shown) stderr.write('\r\u001b[2K')
		},
	}
}
