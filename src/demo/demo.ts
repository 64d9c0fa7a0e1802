/**
 * The room `demo` plays the story of `devnode/story.ts` on an embedded node that a real daemon watches, and compares
 * the messages that arrive with the expected ones.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { signalWithin } from '../base/waits/deadline.js'
import { linkedAbort } from '../base/waits/linkedAbort.js'
import { loadConfig } from '../config/load.js'
import { createClosers } from '../daemon/closers.js'
import { runDaemon } from '../daemon/daemon.js'
import { startDevnode } from '../devnode/devnode.js'
import { play } from '../devnode/play.js'
import type { ExpectedAlert, Step } from '../devnode/story.js'
import { PlainError } from '../errors.js'
import type { Log } from '../model/ports.js'
import { headline } from '../notify/text/sentence.js'
import { webhookSignature } from '../notify/webhook/signature.js'
import type { Scrubber } from '../ops/scrub.js'
import { version } from '../version.js'
import { countsOf, discrepancies } from './compare.js'
import { type DemoReceivers, startReceivers } from './demoReceivers.js'

export interface DemoOptions {
	readonly say: (line: string) => void
	/** Where the daemon logs. */
	readonly log: Log
	/** Receives the secrets that are created for this run. */
	readonly scrubber: Pick<Scrubber, 'add' | 'clean'>
	/** Whether to continue after the story until the signal aborts. */
	readonly keep: boolean
}

/**
 * Time limit for the alerts of one step. Polls run each second; on a busy machine a process may be paused for a while.
 */
const patienceMs = 60_000

/**
 * Plays the story on an embedded node with a real daemon and real receivers, and checks the messages that arrive.
 *
 * @throws PlainError when an alert is wrong, missing or unexpected.
 */
export async function runDemo({ say, log, scrubber, keep }: DemoOptions, signal: AbortSignal): Promise<void> {
	const stop = linkedAbort(signal)
	let wake = () => {}
	const closers = createClosers()
	try {
		const folder = await mkdtemp(join(tmpdir(), 'tracewatch-demo-'))
		closers.add(() => rm(folder, { recursive: true, force: true }))
		const node = await startDevnode({ key: randomBytes(8).toString('hex'), signal })
		closers.add(() => node.stop())
		const receivers = await startReceivers(() => wake())
		closers.add(() => receivers.close())
		const secret = `whsec_${randomBytes(24).toString('base64')}`
		const config = await writeSite(folder, node.url, receivers, secret)
		// The node belongs to this demo, and users need its URL to send transactions.
		scrubber.add(config.secrets.filter((text) => !node.url.includes(text)))
		const onHangup = () => () => {}
		await new Promise<void>((resolve, reject) => {
			const daemon = runDaemon(
				{ config, log, version, env: {}, scrubber, onHangup, onReport: () => resolve() },
				stop.signal,
			)
			closers.add(() => daemon.catch(() => {}))
			daemon.then(resolve, reject)
		})
		signal.throwIfAborted()
		say(`A node with its first blocks, a mail server and a webhook receiver are up; tracewatch ${version} watches.`)

		const expected: ExpectedAlert[] = []
		const started = Date.now()
		let [hooksShown, mailsShown] = [0, 0]
		await play({
			rpcUrl: node.url,
			signal,
			onStep: async (step) => {
				say(`\n${step.sentence}`)
				expected.push(...step.alerts)
				const { hooks, mails } = countsOf(expected)
				await until(
					() => receivers.hooks.length >= hooks && receivers.mails.length >= mails,
					(done) => {
						wake = done
					},
					signal,
				)
				for (const { message } of receivers.hooks.slice(hooksShown)) say(`  webhook  ${headline(message)}`)
				for (const { subject } of receivers.mails.slice(mailsShown)) say(`  mail     ${subject}`)
				;[hooksShown, mailsShown] = [receivers.hooks.length, receivers.mails.length]
				sayUnreported(step, say)
				check(expected, receivers, secret)
			},
		})
		// Waits for one more poll, so that an unexpected alert would have arrived.
		await sleep(1_500, undefined, { signal })
		check(expected, receivers, secret)
		const seconds = ((Date.now() - started) / 1000).toFixed(1)
		say(
			`\nAll ${receivers.hooks.length} webhooks (signatures verified) and ${receivers.mails.length} mails came, ` +
				`and nothing else, in ${seconds} s.`,
		)
		if (keep) {
			say(`\nThe node keeps running at ${node.url}`)
			say(`Send a payment: tracewatch devnode pay 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 0.5 --rpc ${node.url}`)
			say('Alerts appear here. Ctrl-C ends it.')
			await showMore(receivers, [hooksShown, mailsShown], { onArrival: (done) => (wake = done), say }, signal)
		}
	} finally {
		stop.abort()
		await closers.close()
	}
}

async function writeSite(folder: string, rpcUrl: string, receivers: DemoReceivers, secret: string) {
	const watchlist = fileURLToPath(new URL('../../watchlists/demo.yaml', import.meta.url))
	const path = join(folder, 'tracewatch.yaml')
	const settings = {
		networks: [{ name: 'demo', chain_id: '31337', rpc: [rpcUrl], schedule: '* * * * * *' }],
		receivers: [
			{
				name: 'demo-mail',
				type: 'email',
				smtp: receivers.smtpUrl,
				from: 'tracewatch@example.org',
				to: ['ops@example.org'],
			},
			{ name: 'demo-hook', type: 'webhook', url: receivers.hookUrl, secret },
		],
		watchlists: [watchlist],
		state: join(folder, 'state'),
	}
	// JSON is valid YAML.
	await writeFile(path, JSON.stringify(settings))
	return await loadConfig(path, { env: {} })
}

function sayUnreported({ unreported }: Step, say: DemoOptions['say']): void {
	for (const words of unreported) say(`  rightly not reported: ${words}`)
}

function check(expected: readonly ExpectedAlert[], { hooks, mails }: DemoReceivers, secret: string): void {
	const problems = [...discrepancies(expected, hooks, mails)]
	for (const { id, timestamp, signature, body } of hooks) {
		if (signature !== webhookSignature(secret, id, Number(timestamp), body))
			problems.push(`the signature of ${id} is wrong`)
	}
	if (problems.length > 0) throw new PlainError(`The demo went wrong:\n  ${problems.join('\n  ')}`)
}

/** Waits until `isDone`, or until `patienceMs` have passed; the check then reports what is missing. */
async function until(isDone: () => boolean, onArrival: (done: () => void) => void, signal: AbortSignal): Promise<void> {
	const limit = signalWithin(patienceMs, signal)
	while (!isDone() && !limit.aborted) {
		await new Promise<void>((resolve) => {
			onArrival(resolve)
			limit.addEventListener('abort', () => resolve(), { once: true })
			if (isDone()) resolve()
		})
	}
	signal.throwIfAborted()
}

async function showMore(
	{ hooks, mails }: DemoReceivers,
	[hooksShown, mailsShown]: readonly [number, number],
	{ onArrival, say }: Pick<DemoOptions, 'say'> & { readonly onArrival: (done: () => void) => void },
	signal: AbortSignal,
): Promise<void> {
	let [hooksSeen, mailsSeen] = [hooksShown, mailsShown]
	const show = () => {
		for (const { message } of hooks.slice(hooksSeen)) say(`  webhook  ${headline(message)}`)
		for (const { subject } of mails.slice(mailsSeen)) say(`  mail     ${subject}`)
		;[hooksSeen, mailsSeen] = [hooks.length, mails.length]
	}
	onArrival(show)
	if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
