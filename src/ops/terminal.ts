/** Everything that a command prints passes through here, where secrets and unfit characters are removed. */

import { fitOutput, fitText } from '../base/text/outgoing.js'
import type { Scrubber } from './scrub.js'

export interface Terminal {
	/** One line or page of the result. `end`: default a line feed. `isMarked`: begin with a UTF-8 byte order mark. */
	out(line: string, end?: '\n' | '\r\n', isMarked?: boolean): void
	/** One line or page beside the result. */
	err(line: string): void
	/** The error that ends the program: our own lines, which may contain untrusted text. */
	fault(text: string): void
}

const MARK = '\ufeff'

/** `write` adds the line feed. */
export function createTerminal(
	{ clean }: Pick<Scrubber, 'clean'>,
	write: { readonly out: (text: string) => void; readonly err: (text: string) => void },
): Terminal {
	return {
		// Added after cleaning, which would remove the mark as an unfit character.
		out: (line, end = '\n', isMarked = false) =>
			write.out(`${isMarked ? MARK : ''}${fitOutput(clean(line))}${end === '\n' ? '' : '\r'}`),
		err: (line) => write.err(fitOutput(clean(line))),
		fault: (text) => write.err(fitText(clean(text))),
	}
}
