/** What tracewatch reports of a condition of OpenZeppelin Monitor or Defender, and what it does not. */

import { controlRows } from '../../core/events/controlLogs.js'
import type { OzCondition } from './ozFiles.js'

/** `yes`: each match is an alert, and no more than that comes. `more`: more comes. `no`: it is not reported. */
export type Covered = 'yes' | 'more' | 'no'

export interface Verdict {
	readonly covered: Covered
	/** In words: what is reported, or why it is not. */
	readonly words: string
	/** Options of the watch on each address of the monitor. Absent: no watch is made for this condition. */
	readonly watch?: WatchPart
	/** Addresses that are watched instead of the monitor's own. */
	readonly accounts?: readonly { readonly address: string; readonly direction: 'in' | 'out' }[]
}

export interface WatchPart {
	readonly kinds: readonly string[]
	readonly minValueWei?: bigint
	readonly calls?: readonly string[]
}

const coins = ['transfer', 'deployment', 'withdrawal', 'delegation', 'unexplained']

/** Events by which a contract says that its rulers changed: those that are reported as `control`. */
const control: ReadonlySet<string> = new Set(
	controlRows.filter(({ isByAnybody }) => isByAnybody !== true).map(({ event }) => event),
)

const transferOfTokens = new Set([
	'Transfer(address,address,uint256)',
	'TransferSingle(address,address,address,uint256,uint256)',
	'TransferBatch(address,address,address,uint256[],uint256[])',
])

/** `isAlone`: the monitor has neither events nor functions, so that its transactions are what it reports. */
export function verdictOn(condition: OzCondition, isAlone: boolean): Verdict {
	const { of, signature, expression } = condition
	if (of === 'transaction') return isAlone ? onTransactions(condition) : onFilter(condition)
	const unfiltered: Verdict | null =
		expression === null ? null : { covered: 'more', words: `; \`${expression}\` does not filter` }
	const reported = (words: string, watch: WatchPart): Verdict => ({
		covered: unfiltered === null ? 'yes' : 'more',
		words: `${words}${unfiltered?.words ?? ''}`,
		watch,
	})
	if (of === 'function') {
		return reported('as `call`, at any depth, not only as the first call of a transaction', {
			...{ kinds: ['call'], calls: [signature] },
		})
	}
	if (transferOfTokens.has(signature)) return onTokens(expression)
	if (control.has(signature)) {
		return reported('as `control`, and also where storage changed without the event', { kinds: ['control'] })
	}
	if (signature === 'SafeReceived(address,uint256)') return reported('as `transfer`', { kinds: coins })
	return { covered: 'no', words: 'tracewatch does not report events of this kind' }
}

function onTransactions({ status, expression }: OzCondition): Verdict {
	if (status === 'failure')
		return { covered: 'no', words: 'nothing moves in a transaction that failed, so tracewatch does not report it' }
	const coinsMove = 'coins that move, at any depth; not transactions that move none'
	if (expression === null) return { covered: 'more', words: coinsMove, watch: { kinds: coins } }
	const least = leastOf(expression)
	if (least === null)
		return { covered: 'more', words: `${coinsMove}; \`${expression}\` does not filter`, watch: { kinds: coins } }
	const watch = { kinds: coins, minValueWei: least }
	return { covered: 'yes', words: `coins that move, at any depth, from ${least} wei up (\`min_value\`)`, watch }
}

/** Beside events and functions, a condition on transactions only narrows them. */
function onFilter({ status, expression }: OzCondition): Verdict {
	if (status === 'failure')
		return { covered: 'no', words: 'nothing happens in a transaction that failed, so tracewatch does not report it' }
	if (expression !== null) return { covered: 'more', words: `\`${expression}\` does not filter: more is reported` }
	return { covered: 'yes', words: 'what a failed transaction undid is never reported' }
}

/** The smallest value in wei that `value > N` or `value >= N` lets through; null for any other expression. */
function leastOf(expression: string): bigint | null {
	const [, sign, number = ''] = /^\(?\s*value\s*(>=?)\s*(\d{1,78})\s*\)?$/i.exec(expression) ?? []
	if (sign === undefined) return null
	return BigInt(number) + (sign === '>' ? 1n : 0n)
}

/** tracewatch follows accounts and not all transfers of a token: so the accounts that the expression names. */
function onTokens(expression: string | null): Verdict {
	const named = [...(expression ?? '').matchAll(/\b(from|to)\s*==\s*['"]?(0x[0-9a-f]{40})\b/gi)]
	const accounts = named.map(([, side = '', address = '']) => {
		return { address, direction: side.toLowerCase() === 'from' ? ('out' as const) : ('in' as const) }
	})
	if (accounts.length === 0) {
		const words = 'all transfers of a token are not reported: watch the accounts that matter, with `tokens`'
		return { covered: 'no', words }
	}
	const rest = (expression ?? '').replace(/\b(from|to)\s*==\s*['"]?0x[0-9a-f]{40}['"]?/gi, '')
	const isWhole = /^(\s|\(|\)|\bOR\b)*$/i.test(rest)
	const filter = isWhole ? '' : '; the rest of the expression does not filter'
	const words = `the accounts that the expression names are watched, for this token${filter}`
	return { covered: isWhole ? 'yes' : 'more', words, accounts }
}
