/** What `check`, `doctor` and docs/nodes.md say is proved of watched contracts. */

import { asksForContracts } from '../../kinds/all.js'
import type { WatchRules } from '../../model/watch.js'

const provedOfContracts =
	'the listed slots, functions and lists did not move unexplained; other slots, and a value that is set and set back ' +
	'within one block, are not seen'

const privateContracts =
	'none is read on a private network, since that names its address: `control` and `code` are not reported'

/** Null: no watch of the network asks for `control` or `code`. */
export function contractsInWords(
	rules: readonly Pick<WatchRules, 'network' | 'kinds'>[],
	{ name, isPrivate }: { readonly name: string; readonly isPrivate: boolean },
): string | null {
	if (!rules.some((rule) => rule.network === name && asksForContracts(rule))) return null
	return isPrivate ? privateContracts : provedOfContracts
}
