/** Everything that a command prints passes through here, where secrets and unfit characters are removed. */

import { fitOutput, fitText } from '../base/text/outgoing.js'
import type { Scrubber } from './scrub.js'

/** `write` adds the line feed. */
export function createTerminal(
	{ clean }: Pick<Scrubber, 'clean'>,
	write: { readonly out: (text: string) => void; readonly err: (text: string) => void },
) {
	return {
		/** One line or page of the result. */
		out: (line: string) => write.out(fitOutput(clean(line))),
		/** One line or page beside the result. */
		err: (line: string) => write.err(fitOutput(clean(line))),
		/** The error that ends the program: our own lines, which may contain untrusted text. */
		fault: (text: string) => write.err(fitText(clean(text))),
	}
}
