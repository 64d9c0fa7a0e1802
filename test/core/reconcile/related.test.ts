// Code that a contract ran and who rules it since are two alerts; of one transaction, the later one names the other.
import { expect, test } from 'vitest'
import { deliveriesOf } from '../../../src/core/outbox/posting.js'
import { noDifference, reconcile } from '../../../src/core/reconcile/reconcile.js'
import { finish } from '../../../src/core/steps.js'
import { noAnswers } from '../../../src/kinds/standing.js'
import type { Alert } from '../../../src/model/alert.js'
import type { Kind } from '../../../src/model/kind.js'
import type { Announcement } from '../../../src/model/state.js'
import { address, alert, blockRef, digest, hash } from '../build.js'

function alertAt(kind: Kind, place: string, watched = address(1), txHash = hash(0xabc)): Alert {
	const made = alert(`31337:${txHash}:${place}:${kind}:${watched}`, { kind, txHash })
	return { ...made, type: `alert.${kind}` }
}
const announced = (one: Alert, part: Partial<Announcement> = {}): Announcement => ({
	...{ id: one.data.id, block: blockRef(10), txHash: one.data.txHash, alerts: [one], status: 'announced', revision: 0 },
	...part,
})
const [code, control] = [alertAt('code', '0_1'), alertAt('control', 'log_2')]

function newsOf(alerts: readonly Alert[], ...known: readonly Announcement[]) {
	const sight = { span: { from: 10n, to: 10n }, alerts, present: new Map(), judges: () => false }
	const announcements = new Map(known.map((entry) => [entry.id, entry]))
	return finish(reconcile(announcements, sight, noAnswers, noDifference))
}
const relatedOf = (alerts: readonly Alert[], ...known: readonly Announcement[]) =>
	newsOf(alerts, ...known).news.map(({ alerts: [first] }) => first?.data.related)

test('default: the later alert names the earlier one, whichever it is', () => {
	expect(relatedOf([code], announced(control))).toEqual([[control.data.id]])
	expect(relatedOf([control], announced(code))).toEqual([[code.data.id]])
	expect(newsOf([code], announced(control)).announcements[0]?.alerts[0]?.data.related).toEqual([control.data.id])
})

test('behavior: no other transaction, watch or kind is named, nor what is retracted', () => {
	const others = [
		announced(alertAt('control', 'log_2', address(2))),
		announced(alertAt('control', 'log_2', address(1), hash(0xdef))),
		announced(alertAt('transfer', 'root')),
		announced(alertAt('code', '0_2')),
		announced(alertAt('control', 'log_3'), { status: 'retracted', revision: 1 }),
	]
	expect(relatedOf([code], ...others)).toEqual([undefined])
	expect(relatedOf([alertAt('transfer', 'root')], announced(control))).toEqual([undefined])
})

test('behavior: the mail of the later one refers to that of the other', () => {
	const posting = { recipientsOf: () => ['ops@example.org'], nowMs: 1, digest }
	const [first] = finish(deliveriesOf(newsOf([control]), posting))
	const [second] = finish(deliveriesOf(newsOf([code], announced(control)), posting))
	expect(first?.answers).toBeNull()
	expect(second?.answers).toBe(first?.id)
})
