/**
 * Guesses of a password, checked no faster than nobody needs: a few at once, then two in a second, whoever asks. What
 * waits is bounded, and who must give way is one of those that wait in numbers, so that nobody is kept out by others.
 */

export type Verdict = 'right' | 'wrong' | 'too-many'

export interface Guesses {
	/** Asks `isRight` when its turn has come, at once where few were wrong lately. */
	check(guess: Guess): Promise<Verdict>
}

export interface Guess {
	/** Who guesses. */
	readonly from: string
	readonly isRight: () => boolean
	/** Nobody waits for the answer any more: then it is not looked at. */
	readonly isGone: () => boolean
}

/** So many wrong ones are checked at once. */
const burst = 10
const perSecond = 2
/** Each waits for ten seconds at most. */
const mostWaiting = 20

interface Waiting extends Guess {
	readonly tell: (verdict: Verdict) => void
}

/** `onFlood`: guesses begin to wait; once until all is quiet again. */
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

	/** What is right costs nothing. */
	function judge(isRight: () => boolean): Verdict {
		if (isRight()) return 'right'
		credit--
		return 'wrong'
	}

	function leaveOut(): void {
		for (const { isGone, tell } of waiting) if (isGone()) tell('too-many')
		waiting = waiting.filter(({ isGone }) => !isGone())
	}

	function work(): void {
		timer = null
		count()
		leaveOut()
		for (let next = waiting[0]; next !== undefined && credit >= 1; next = waiting[0]) {
			waiting.shift()
			next.tell(judge(next.isRight))
		}
		if (waiting.length > 0) timer = setTimeout(work, Math.ceil(((1 - credit) / perSecond) * 1_000)).unref()
	}

	return {
		async check(guess) {
			count()
			if (waiting.length === 0 && credit >= 1) return judge(guess.isRight)
			if (!isFlood) onFlood(guess.from)
			isFlood = true
			return new Promise((tell) => {
				waiting.push({ ...guess, tell })
				if (waiting.length > mostWaiting) leaveOut()
				if (waiting.length > mostWaiting) giveWay(waiting)?.tell('too-many')
				if (timer === null) work()
			})
		},
	}
}

/** One of the many of whoever has the most of them waiting, without a pattern. */
function giveWay(waiting: Waiting[]): Waiting | undefined {
	const counts = new Map<string, number>()
	for (const { from } of waiting) counts.set(from, (counts.get(from) ?? 0) + 1)
	const most = Math.max(...counts.values())
	const many = waiting.filter(({ from }) => counts.get(from) === most)
	const chosen = many[Math.floor(Math.random() * many.length)]
	return chosen && waiting.splice(waiting.indexOf(chosen), 1)[0]
}
