import { ConfigError } from '../../errors.js'
import type { Config } from '../load.js'
import { namesOf } from '../names.js'
import { readWatchlists, type Watchlists, watchlistPaths } from './watchlists.js'

/** The watchlists of a running program, as they change. */
export interface Following {
	/**
	 * Reads all of them anew, for the settings as they are.
	 *
	 * @throws ConfigError with the problems of every file; then nothing of them is to be used. The signal's reason.
	 */
	load(signal?: AbortSignal): Promise<Watchlists>
	/**
	 * What they consist of now: the watchlists, then the files of addresses that they named when last read, right or
	 * wrong.
	 */
	paths(): readonly string[]
	/** Of what was last read, right or wrong. */
	revision(): string
}

export function followWatchlists(config: Config, { cwd = process.cwd() } = {}): Following {
	let { addressFiles, revision } = config
	return {
		async load(signal) {
			const { watches, problems, ...read } = await readWatchlists(config.watchlists, namesOf(config), cwd, signal)
			signal?.throwIfAborted()
			;({ addressFiles, revision } = read)
			if (watches === null) throw new ConfigError(problems)
			return { watches, ...read }
		},
		paths: () => [...watchlistPaths(config.watchlists), ...addressFiles],
		revision: () => revision,
	}
}
