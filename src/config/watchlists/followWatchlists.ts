import { ConfigError } from '../../errors.js'
import type { WatchSet } from '../../model/watch.js'
import type { Config } from '../load.js'
import { namesOf } from '../names.js'
import { readWatchlists, type Watchlists, watchlistPaths } from './watchlists.js'

/** Reads the watchlists again while the program runs. */
export interface Following {
	/**
	 * Reads all watchlists with the current settings.
	 *
	 * @throws ConfigError with the problems of every file, in which case none of them may be used; the signal's reason.
	 */
	load(signal?: AbortSignal): Promise<Watchlists>
	/**
	 * The paths of all watchlists now, then the address files that they named when they were last read, with or without
	 * problems.
	 */
	paths(): readonly string[]
	/** The revision of the files when they were last read, with or without problems. */
	revision(): string
}

export function followWatchlists(config: Config, { cwd = process.cwd() } = {}): Following {
	let { addressFiles, revision } = config
	let expected = sizesOf(config.watches)
	return {
		async load(signal) {
			const { watches, problems, ...read } = await readWatchlists(config.watchlists, namesOf(config), cwd, {
				...{ signal, expected },
			})
			signal?.throwIfAborted()
			;({ addressFiles, revision } = read)
			if (watches === null) throw new ConfigError(problems)
			expected = sizesOf(watches)
			return { watches, ...read }
		},
		paths: () => [...watchlistPaths(config.watchlists), ...addressFiles],
		revision: () => revision,
	}
}

/** An edit leaves most watches as they are. */
function sizesOf({ networks }: WatchSet): ReadonlyMap<string, number> {
	return new Map(Array.from(networks, ([name, { index }]) => [name, index.size]))
}
