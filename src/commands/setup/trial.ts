/** What is about to be written is tried from a folder of its own: it must not be in effect yet. */

import { readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { loadConfig } from '../../config/load.js'
import { ConfigError, UsageError } from '../../errors.js'
import { type ExitCode, exitCodes, type Io } from '../command.js'
import { doctor } from '../doctor.js'
import { testSend } from '../testSend.js'
import type { WholeFile } from '../writeWhole.js'
import type { Secrets, Sources } from './choose.js'
import type { SetupPlace } from './site.js'
import { configText, type SetupConfig } from './texts.js'

/** The same configuration in a folder of its own: what is tried must not be in effect yet. */
export async function stage(
	folder: string,
	settings: SetupConfig,
	place: SetupPlace,
	watchlist: WholeFile | null,
	io: Io,
): Promise<string> {
	io.signal.throwIfAborted()
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

/** Throws ConfigError as if what is staged stood in its place. */
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

/** What of a configuration is tried; both ways in full by default. */
export interface Trial {
	readonly asksEndpoints: boolean
	/** Null: all of them. */
	readonly receivers: readonly string[] | null
}

/** Doctor and test-send, on what is about to be written. */
export async function tryBothWays(
	staged: string,
	env: NodeJS.ProcessEnv,
	{ io, asker }: Sources,
	trial: Trial = { asksEndpoints: true, receivers: null },
): Promise<ExitCode> {
	const tried: Io = { ...io, env }
	const values = { config: staged }
	const { receivers } = await loadConfig(staged, { env, cwd: io.cwd })
	const codes: ExitCode[] = trial.asksEndpoints ? [await doctor.run({ values, positionals: [] }, tried)] : []
	const names = trial.receivers ?? receivers.map(({ name }) => name)
	for (const name of names) codes.push(await testSend.run({ values, positionals: [name] }, tried))
	const worst = codes.find((code) => code !== exitCodes.done)
	if (worst === undefined) return exitCodes.done
	if (asker !== null) {
		const answer = await asker.ask('Not all of that is well. Go on all the same? [y/N]: ')
		if (/^y(es)?$/i.test(answer)) return exitCodes.done
	}
	io.err('not all of that is well, and nothing was written; --untested writes all the same')
	return worst
}
