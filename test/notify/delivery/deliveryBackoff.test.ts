import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextAttemptMs } from '../../../src/notify/delivery/deliveryBackoff.js'

const hourMs = 3_600_000
const createdAtMs = Date.UTC(2026, 10, 20)

describe('when a failed delivery is tried again', () => {
	test('default: quickly at first, then hourly, with jitter below each ceiling', () => {
		const latest = (attempts: number) =>
			(nextAttemptMs({ attempts, createdAtMs }, { nowMs: createdAtMs, random: () => 0.999_999_999 }) ?? 0) - createdAtMs
		const ceilingsS = [1, 5, 15, 60, 300, 900, 3_600, 3_600, 3_600]
		ceilingsS.forEach((ceilingS, attempts) => {
			expect(latest(attempts)).toBeGreaterThanOrEqual(ceilingS * 1_000 - 2)
			expect(latest(attempts)).toBeLessThanOrEqual(ceilingS * 1_000)
		})
	})

	test('behavior: never at once, never before the other side allows it, never after the deadline', () => {
		fc.assert(
			fc.property(
				fc.nat(200),
				fc.integer({ min: 0, max: 72 * hourMs - 1 }),
				fc.double({ min: 0, max: 0.999_999, noNaN: true }),
				fc.nat(hourMs),
				(attempts, ageMs, dice, afterMs) => {
					const nowMs = createdAtMs + ageMs
					const nextMs = nextAttemptMs({ attempts, createdAtMs }, { nowMs, random: () => dice, afterMs })
					if (nextMs === null) throw new Error('given up before the deadline')
					const deadlineMs = createdAtMs + 72 * hourMs
					expect(nextMs).toBeGreaterThanOrEqual(Math.min(nowMs + Math.max(250, afterMs), deadlineMs))
					expect(nextMs).toBeLessThanOrEqual(deadlineMs)
					expect(nextMs).toBeLessThanOrEqual(nowMs + hourMs)
				},
			),
		)
	})

	test('behavior: tried some hundred times in 72 hours, the last time at their end, then given up', () => {
		fc.assert(
			fc.property(fc.integer(), (seed) => {
				const dice = diceOf(seed)
				let nowMs = createdAtMs
				let attempts = 0
				for (;;) {
					const nextMs = nextAttemptMs({ attempts, createdAtMs }, { nowMs, random: dice })
					attempts += 1
					if (nextMs === null) break
					expect(nextMs).toBeGreaterThan(nowMs)
					nowMs = nextMs
				}
				expect(nowMs).toBe(createdAtMs + 72 * hourMs)
				expect(attempts).toBeGreaterThan(72)
			}),
			{ numRuns: 20 },
		)
	})

	test('behavior: a delivery that grew old while the program was off is given up at its seventh attempt', () => {
		const nowMs = createdAtMs + 100 * hourMs
		const outcomes = [0, 1, 2, 3, 4, 5, 6].map((attempts) =>
			nextAttemptMs({ attempts, createdAtMs }, { nowMs, random: () => 0.5 }),
		)
		expect(outcomes.map((nextMs) => nextMs === null)).toEqual([false, false, false, false, false, false, true])
	})
})

/** Numbers from 0 up to 1, the same for the same seed. */
function diceOf(seed: number): () => number {
	let state = seed >>> 0
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
		return state / 2 ** 32
	}
}
