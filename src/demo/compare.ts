/** Compares the messages that arrived after a step of the story with those that were expected. */
import { isAlert } from '../core/outbox/messageKinds.js'
import type { ExpectedAlert } from '../devnode/story.js'
import type { AlertData } from '../model/alert.js'
import type { ReceivedHook, ReceivedMail } from './demoReceivers.js'

/** One sentence for each difference; empty when there is none. */
export function discrepancies(
	expected: readonly ExpectedAlert[],
	hooks: readonly ReceivedHook[],
	mails: readonly ReceivedMail[],
): readonly string[] {
	const problems: string[] = []
	const open = new Map<string, ExpectedAlert[]>()
	for (const alert of expected) {
		if (alert.receivers.includes('demo-hook')) open.set(keyOf(alert), [...(open.get(keyOf(alert)) ?? []), alert])
	}
	const mailed = new Map<string, string>()
	for (const { message } of hooks) {
		if (!isAlert(message.data)) {
			problems.push(`the webhook was sent something that is no alert: ${message.type}`)
			continue
		}
		const alert = open.get(keyOfData(message.data))?.shift()
		if (alert === undefined) problems.push(`the webhook was sent what did not happen: ${message.data.id}`)
		else if (alert.receivers.includes('demo-mail')) mailed.set(message.data.id, message.data.valueWei ?? '')
	}
	for (const rest of open.values()) {
		for (const { kind, direction, valueWei, address } of rest) {
			problems.push(`the webhook was not sent a ${kind} ${direction} of ${valueWei} wei at ${address}`)
		}
	}
	for (const { alertId, text } of mails) {
		const valueWei = mailed.get(alertId)
		if (valueWei === undefined) problems.push(`a mail came that was not expected, or came twice: ${alertId}`)
		else if (!text.includes(valueWei)) problems.push(`the mail about ${alertId} does not name ${valueWei} wei`)
		mailed.delete(alertId)
	}
	for (const id of mailed.keys()) problems.push(`no mail came about ${id}`)
	return problems
}

/** The number of webhooks and mails that the alerts produce. */
export function countsOf(expected: readonly ExpectedAlert[]): { readonly hooks: number; readonly mails: number } {
	const to = (name: string) => expected.filter(({ receivers }) => receivers.includes(name)).length
	return { hooks: to('demo-hook'), mails: to('demo-mail') }
}

function keyOf({ address, kind, direction, from, to, valueWei }: ExpectedAlert): string {
	return [address, kind, direction, from, to, valueWei].join(' ')
}

function keyOfData({ watch, kind, direction, from, to, valueWei }: AlertData): string {
	return [watch.address.toLowerCase(), kind, direction, from?.toLowerCase(), to.toLowerCase(), valueWei].join(' ')
}
