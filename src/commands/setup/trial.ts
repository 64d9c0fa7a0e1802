/** A new configuration is tested in a folder of its own, because it must not take effect yet. */

import { readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fitWords } from '../../base/text/outgoing.js'
import { loadConfig } from '../../config/load.js'
import { readSettings, type Settings } from '../../config/settings/settings.js'
import { ConfigError, UsageError } from '../../errors.js'
import { createEmailReceiver } from '../../notify/email/email.js'
import { type ExitCode, exitCodes, type Io } from '../command.js'
import { examineEndpoint } from '../doctor/endpointReport.js'
import { lineOf } from '../doctor/reportLines.js'
import { whileWaiting } from '../shared/progress.js'
import { sendSample } from '../testSend.js'
import type { SetupPlace } from './site.js'
import { configText, rpcVariable, type SetupConfig, type SetupReceiver } from './texts.js'
import type { WholeFile } from './writeWhole.js'

/** Writes the configuration into the folder. Resolves to the path of its tracewatch.yaml. */
export async function stage(
	folder: string,
	settings: SetupConfig,
	place: SetupPlace,
	watchlist: WholeFile | null,
): Promise<string> {
	const names = await readdir(place.watchlists).catch(() => [])
	const others = names
		.filter((name) => /\.ya?ml$/.test(name))
		.map((name) => join(place.watchlists, name))
		.filter((path) => path !== watchlist?.path)
	const own = join(folder, 'watchlist.yaml')
	if (watchlist !== null) await writeFile(own, watchlist.text, { mode: 0o600 })
	const watchlistFiles = watchlist === null ? others : [...others, own]
	const staged = join(folder, 'tracewatch.yaml')
	await writeFile(staged, configText({ ...settings, watchlistFiles }), { mode: 0o600 })
	return staged
}

/** Checks the staged configuration. Throws ConfigError with the paths that the files will have. */
export async function checkStaged(staged: string, secrets: Secrets, place: SetupPlace, io: Io): Promise<void> {
	const onSecrets = (all: readonly string[]) => void io.scrubber.add(all)
	const env = { ...place.env, ...Object.fromEntries(secrets) }
	try {
		const { watches } = await loadConfig(staged, { env, cwd: '/', onSecrets })
		if (watches.length === 0) throw new UsageError('nothing would be watched: give --address')
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		const own = dirname(staged).slice(1)
		const named = (file: string) => (file.startsWith(own) ? join(place.folder, basename(file)) : `/${file}`)
		throw new ConfigError(error.problems.map((problem) => ({ ...problem, file: named(problem.file) })))
	}
}

type Secrets = ReadonlyMap<string, string>

/** Why an answer that was tried does not work. */
export interface Refusal {
	readonly code: ExitCode
	readonly words: string
}

/** Tries answers one by one. Each resolves to null when the answer works. */
export interface Trials {
	endpoint(url: string, chainId: number): Promise<Refusal | null>
	login(smtp: string): Promise<Refusal | null>
	receiver(receiver: SetupReceiver, secrets: Secrets): Promise<Refusal | null>
}

/** `folder`: a folder of its own, in which a configuration of the one answer stands. */
export function createTrials(folder: string, io: Io): Trials {
	const path = join(folder, 'trial.yaml')
	async function settingsOf(chainId: number, receiver: SetupReceiver, secrets: Secrets): Promise<Settings> {
		await writeFile(path, configText({ chainId, receiver, state: 'state', http: null }), { mode: 0o600 })
		const env = { ETHEREUM_RPC_URL: 'http://localhost/', RPC_URL: 'http://localhost/', ...Object.fromEntries(secrets) }
		const { settings, problems } = await readSettings(path, env, folder)
		if (settings === null) throw new RangeError(problems[0]?.message ?? 'cannot be used')
		return settings
	}
	return {
		async endpoint(url, chainId) {
			const hook = { kind: 'webhook', format: 'slack', chat: null } as const
			const secrets = new Map([
				[rpcVariable(chainId), url],
				['OPS_HOOK_URL', 'http://localhost/'],
			])
			const [network] = (await settingsOf(chainId, hook, secrets)).networks
			if (network === undefined) return null
			const report = await whileWaiting('asking the endpoint', () =>
				examineEndpoint(url, { ...network, readsContracts: false }, io.signal),
			)
			const words = fitWords(lineOf(report))
			if (!report.usable) return { code: report.error === null ? exitCodes.failed : exitCodes.tryAgain, words }
			io.err(`  ${words}`)
			return null
		},
		async login(smtp) {
			const receiver = { kind: 'mail', from: 'tracewatch@localhost.invalid', to: ['ops@localhost.invalid'] } as const
			const [settings] = (await settingsOf(1, receiver, new Map([['SMTP_URL', smtp]]))).receivers
			if (settings?.type !== 'email') return null
			const mail = createEmailReceiver(settings)
			try {
				const outcome = await whileWaiting('logging in', () => mail.login(io.signal))
				io.signal.throwIfAborted()
				if (outcome.result === 'delivered') return null
				const code = outcome.result === 'retry' ? exitCodes.tryAgain : exitCodes.failed
				return { code, words: `the mail server does not take it: ${outcome.reason}` }
			} finally {
				await mail.close()
			}
		},
		async receiver(receiver, secrets) {
			const [settings] = (await settingsOf(1, receiver, secrets)).receivers
			if (settings === undefined) return null
			const { code, lines } = await sendSample(settings, io)
			io.signal.throwIfAborted()
			if (code !== exitCodes.done) return { code, words: lines.join('\n  ') }
			for (const line of lines) io.err(`  a test message was ${line}`)
			return null
		},
	}
}
