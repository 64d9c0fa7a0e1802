/**
 * Limits how fast passwords are checked, for all clients together: 10 wrong ones at once, then 2 per second. At most 20
 * guesses wait. When there are more, one of the client with the most waiting guesses is rejected, so that an attacker
 * does not lock out others.
 */

export type Verdict = 'right' | 'wrong' | 'too-many'

export interface Guesses {
	/** Checks the guess: at once if few were wrong lately, else after those that came before it. */
	check(guess: Guess): Promise<Verdict>
}

export interface Guess {
	/** The address of the client. */
	readonly from: string
	readonly isRight: () => boolean
	/** The client has disconnected; the guess need not be checked. */
	readonly isGone: () => boolean
}

/** Number of wrong guesses that are checked without a wait. */
const burst = 10
const perSecond = 2
/** At 2 per second, a guess waits for 10 s at most. */
const mostWaiting = 20

interface Waiting extends Guess {
	readonly report: (verdict: Verdict) => void
}

/** `onFlood` is called when guesses begin to wait; once until the full burst is available again. */
export function createGuesses(onFlood: (from: string) => void, now = () => performance.now()): Guesses {
	let waiting: Waiting[] = []
	let credit = burst
	let countedMs = now()
	let isFlood = false
	let timer: NodeJS.Timeout | null = null

	function count(): void {
		const nowMs = now()
		credit = Math.min(burst, credit + ((nowMs - countedMs) / 1_000) * perSecond)
		countedMs = nowMs
		if (credit === burst) isFlood = false
	}

	/** Only wrong guesses count against the limit. */
	function judge(isRight: () => boolean): Verdict {
		if (isRight()) return 'right'
		credit--
		return 'wrong'
	}

	function leaveOut(): void {
		for (const { isGone, report } of waiting) if (isGone()) report('too-many')
		waiting = waiting.filter(({ isGone }) => !isGone())
	}

	function work(): void {
		timer = null
		count()
		leaveOut()
		for (let next = waiting[0]; next !== undefined && credit >= 1; next = waiting[0]) {
			waiting.shift()
			next.report(judge(next.isRight))
		}
		if (waiting.length > 0) timer = setTimeout(work, Math.ceil(((1 - credit) / perSecond) * 1_000)).unref()
	}

	return {
		async check(guess) {
			count()
			if (waiting.length === 0 && credit >= 1) return judge(guess.isRight)
			if (!isFlood) onFlood(guess.from)
			isFlood = true
			return new Promise((report) => {
				waiting.push({ ...guess, report })
				if (waiting.length > mostWaiting) leaveOut()
				if (waiting.length > mostWaiting) dropFromLargest(waiting)?.report('too-many')
				if (timer === null) work()
			})
		},
	}
}

/** Removes a random guess of the client with the most waiting guesses. */
function dropFromLargest(waiting: Waiting[]): Waiting | undefined {
	const counts = new Map<string, number>()
	for (const { from } of waiting) counts.set(from, (counts.get(from) ?? 0) + 1)
	const most = Math.max(...counts.values())
	const many = waiting.filter(({ from }) => counts.get(from) === most)
	const chosen = many[Math.floor(Math.random() * many.length)]
	return chosen && waiting.splice(waiting.indexOf(chosen), 1)[0]
}
