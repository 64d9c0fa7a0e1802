/** The border for what a person or a pipe reads: whatever a command prints loses secrets and unfit characters here. */

import { fitOutput, fitText } from '../base/outgoing.js'
import type { Scrubber } from './scrub.js'

export interface Terminal {
	/** One line or page of the result. `end`: default a line feed. `isMarked`: behind the mark of UTF-8. */
	out(line: string, end?: '\n' | '\r\n', isMarked?: boolean): void
	/** The same beside the result. */
	err(line: string): void
	/** Why the program ends: lines of ours, in which words of others may stand. */
	fault(text: string): void
}

const MARK = '\ufeff'

/** `write` adds the line feed. */
export function createTerminal(
	{ clean }: Pick<Scrubber, 'clean'>,
	write: { readonly out: (text: string) => void; readonly err: (text: string) => void },
): Terminal {
	return {
		// The mark would be taken away as unfit: it stands only where a result begins, and only by our own wish.
		out: (line, end = '\n', isMarked = false) =>
			write.out(`${isMarked ? MARK : ''}${fitOutput(clean(line))}${end === '\n' ? '' : '\r'}`),
		err: (line) => write.err(fitOutput(clean(line))),
		fault: (text) => write.err(fitText(clean(text))),
	}
}
