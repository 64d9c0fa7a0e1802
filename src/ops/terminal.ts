/** Everything that a command prints passes through here, where secrets and unfit characters are removed. */

import { fitOutput, fitText } from '../base/text/outgoing.js'
import type { Scrubber } from './scrub.js'

export interface Terminal {
	/** One line or page of the result. */
	out(line: string): void
	/** One line or page beside the result. */
	err(line: string): void
	/** The error that ends the program: our own lines, which may contain untrusted text. */
	fault(text: string): void
}

/** `write` adds the line feed. */
export function createTerminal(
	{ clean }: Pick<Scrubber, 'clean'>,
	write: { readonly out: (text: string) => void; readonly err: (text: string) => void },
): Terminal {
	return {
		out: (line) => write.out(fitOutput(clean(line))),
		err: (line) => write.err(fitOutput(clean(line))),
		fault: (text) => write.err(fitText(clean(text))),
	}
}
