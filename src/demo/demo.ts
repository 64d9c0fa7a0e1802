/**
 * The room plays the story of `devnode/story.ts` on an embedded node before a real daemon, and holds what arrives
 * against it.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { signalWithin } from '../base/deadline.js'
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
import { type DemoReceivers, startReceivers } from './receivers.js'

export interface DemoOptions {
	readonly say: (line: string) => void
	/** Where the daemon logs. */
	readonly log: Log
	/** Takes the secrets made for this run. */
	readonly scrubber: Pick<Scrubber, 'add' | 'clean'>
	/** Goes on after the story until the signal aborts. */
	readonly keep: boolean
}

/** How long the alerts of one step may take, polling each second; a busy machine may forget a process for a while. */
const patienceMs = 60_000

/**
 * Plays the story on an embedded node before a real daemon with real receivers, and checks what arrives against it.
 *
 * @throws PlainError when an alert is wrong, missing or too much.
 */
export async function runDemo({ say, log, scrubber, keep }: DemoOptions, signal: AbortSignal): Promise<void> {
	const stop = new AbortController()
	const either = AbortSignal.any([signal, stop.signal])
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
		// The node is this demo's own, and its URL is shown to those who want to send it something.
		scrubber.add(config.secrets.filter((text) => !node.url.includes(text)))
		const onHangup = () => () => {}
		await new Promise<void>((resolve, reject) => {
			const daemon = runDaemon({ config, log, version, env: {}, scrubber, onHangup, onReport: () => resolve() }, either)
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
				sayUntold(step, say)
				check(expected, receivers, secret)
			},
		})
		// One poll more, so that an alert too many would have come.
		await sleep(1_500, undefined, { signal })
		check(expected, receivers, secret)
		const seconds = ((Date.now() - started) / 1000).toFixed(1)
		say(
			`\nAll ${receivers.hooks.length} webhooks (signatures verified) and ${receivers.mails.length} mails came, ` +
				`and nothing else, in ${seconds} s.`,
		)
		if (keep) {
			say(`\nThe node goes on at ${node.url}`)
			say(`Pay somebody: tracewatch devnode pay 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 0.5 --rpc ${node.url}`)
			say('Alerts appear here. Ctrl-C ends it.')
			await showMore(receivers, [hooksShown, mailsShown], (done) => (wake = done), say, signal)
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
	// JSON is YAML.
	await writeFile(path, JSON.stringify(settings))
	return await loadConfig(path, { env: {} })
}

function sayUntold({ untold }: Step, say: DemoOptions['say']): void {
	for (const words of untold) say(`  rightly not told: ${words}`)
}

function check(expected: readonly ExpectedAlert[], { hooks, mails }: DemoReceivers, secret: string): void {
	const problems = [...discrepancies(expected, hooks, mails)]
	for (const { id, timestamp, signature, body } of hooks) {
		if (signature !== webhookSignature(secret, id, Number(timestamp), body))
			problems.push(`the signature of ${id} is wrong`)
	}
	if (problems.length > 0) throw new PlainError(`The demo went wrong:\n  ${problems.join('\n  ')}`)
}

/** Waits for an arrival until `isDone`, or until the patience is over: then what is missing shows in the check. */
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
	onArrival: (done: () => void) => void,
	say: DemoOptions['say'],
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
