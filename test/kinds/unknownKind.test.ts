// Two versions may share a database: this one sends, shows and keeps what a later one posted.
import { expect, test } from 'vitest'
import { urgencyOf } from '../../src/core/outbox/urgency.js'
import { openQuestions, reconcile } from '../../src/core/reconcile/reconcile.js'
import { finish } from '../../src/core/steps.js'
import { allKinds } from '../../src/kinds/all.js'
import { noAnswers } from '../../src/kinds/standing.js'
import type { DigestedAlert, Message } from '../../src/model/alert.js'
import type { Kind } from '../../src/model/kind.js'
import type { Announcement } from '../../src/model/state.js'
import { composeMessage } from '../../src/notify/text/message.js'
import { alert, blockRef, hash } from '../core/build.js'

const kind = 'limit' as Kind

function later(): DigestedAlert {
	const { data } = alert('x', { kind })
	return { type: `alert.${kind}`, timestamp: data.detectedAt, data: { ...data, deliveryId: 'msg_1' } }
}

test('default: a message of a later kind is composed, also in a digest and when it is retracted', () => {
	expect(allKinds).not.toContain(kind)
	const message = later()
	const digest: Message = {
		type: 'alert.digest',
		timestamp: message.timestamp,
		data: { id: 'd', deliveryId: 'msg_2', alerts: [message, message] },
	}
	const removed: Message = { ...message, type: 'alert.removed' }
	for (const one of [message, removed, digest]) {
		expect(composeMessage(one).text).toContain('limit')
		expect(composeMessage(one).text).toContain(message.data.id)
		expect(['alarm', 'outgoing', 'claim', 'ordinary']).toContain(urgencyOf(one))
	}
	expect(composeMessage(message).text).toContain('A later version of tracewatch made this alert')
})

test('default: reconcile leaves the announcement of a later kind to the version that knows it', () => {
	const entry: Announcement = {
		...{ id: 'x', block: blockRef(10), txHash: hash(1), alerts: [alert('x', { kind })] },
		...{ status: 'announced', revision: 0 },
	}
	const known = new Map([['x', entry]])
	const sight = { span: { from: 9n, to: 12n }, present: new Map(), alerts: [], judges: () => true }
	expect(finish(openQuestions(known, sight, noAnswers))).toEqual([])
	expect(finish(reconcile(known, sight, noAnswers))).toEqual({ news: [], retracted: [], announcements: [] })
})
