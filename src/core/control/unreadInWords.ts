import { asksForContracts } from '../../kinds/all.js'
import type { WatchRules } from '../../model/watch.js'

/** Why watched contracts are not read; null: they are, or no watch of the network asks for `control` or `code`. */
export function contractsUnreadInWords(
	rules: readonly Pick<WatchRules, 'network' | 'kinds'>[],
	{ name, isPrivate }: { readonly name: string; readonly isPrivate: boolean },
): string | null {
	if (!isPrivate || !rules.some((rule) => rule.network === name && asksForContracts(rule))) return null
	return 'none is read on a private network, since that names its address: `control` and `code` are not reported'
}
