/** Where `setup` writes, and what exists there. */

import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Config, loadConfig } from '../../config/load.js'
import { credentialPath } from '../../config/settings/credentials.js'
import { shown } from '../../config/yaml/sourceFile.js'
import { watchesOn } from '../../daemon/openNetwork.js'
import { ConfigError, PlainError } from '../../errors.js'
import type { Address } from '../../model/glossary.js'
import type { CommandArgs, Io } from '../command.js'
import { calledAs } from '../shared/calledAs.js'
import { handedOver, isSystemdHere } from './service.js'
import { isAsWritten, type SetupWatch, watchlistText, withWatch } from './texts.js'
import type { WholeFile } from './writeWhole.js'

export interface SetupPlace {
	/** The folder of tracewatch.yaml. */
	readonly folder: string
	readonly watchlists: string
	/** As written in tracewatch.yaml. */
	readonly state: string
	readonly http: string | null
	/** Whether systemd runs this configuration. */
	readonly isService: boolean
	/** Environment in which the stored secrets are found. */
	readonly env: NodeJS.ProcessEnv
	/** The folder as written in shell commands. */
	readonly called: string
	/** A stored secret; null: none. */
	stored(name: string): string | null
	/** The files that store a secret and make the service load it. */
	secretFiles(name: string, value: string): readonly WholeFile[]
	/** Whether the path is that of a secret's file. */
	hides(path: string): boolean
	/** The file that keeps the answers of a setup that was stopped. */
	readonly draft: string
}

/** Throws PlainError with advice when nothing can be set up. */
export function placeFor({ values }: CommandArgs, io: Io): SetupPlace {
	const { env, cwd } = io
	if (typeof values.dir === 'string') {
		const folder = resolve(cwd, values.dir)
		const store = join(folder, 'secrets')
		const paths = { folder, watchlists: join(folder, 'watchlists'), state: 'state', called: shown(folder, cwd) || '.' }
		const own = { ...env, CREDENTIALS_DIRECTORY: store }
		return {
			...paths,
			http: null,
			isService: false,
			env: own,
			...secretsAt(
				(name) => join(store, name),
				() => [],
			),
		}
	}
	const advice = 'to set it up in a folder of its own: `tracewatch setup --dir FOLDER`'
	if (process.getuid?.() !== 0) {
		throw new PlainError(`to set up the service needs root: \`sudo tracewatch setup\`; ${advice}`)
	}
	if (!isSystemdHere())
		throw new PlainError(`this machine was not booted by systemd, so there is no service; ${advice}`)
	const folder = '/etc/tracewatch'
	const paths = { folder, watchlists: join(folder, 'watchlists'), state: '/var/lib/tracewatch', called: folder }
	const at = { http: '127.0.0.1:9464', isService: true, env }
	return { ...paths, ...at, ...secretsAt((name) => credentialPath(name, env), handedOver) }
}

function secretsAt(
	pathOf: (name: string) => string,
	handedOver: (name: string) => readonly WholeFile[],
): Pick<SetupPlace, 'stored' | 'secretFiles' | 'hides' | 'draft'> {
	const written = new Set<string>()
	return {
		stored(name) {
			try {
				return readFileSync(pathOf(name), 'utf8').trim() || null
			} catch {
				return null
			}
		},
		secretFiles(name, value) {
			const path = pathOf(name)
			written.add(path)
			return [{ path, text: `${value}\n`, mode: 0o600, folderMode: 0o700 }, ...handedOver(name)]
		},
		hides: (path) => written.has(path),
		draft: pathOf('setup-answers'),
	}
}

export interface Found {
	/** Path of tracewatch.yaml, whether it exists or not. */
	readonly path: string
	/** No file, the package's example, a file that `setup` wrote, or a file that a person edited. */
	readonly kind: 'none' | 'example' | 'ours' | 'edited'
	/** The configuration; null: no file, or it has problems. */
	readonly config: Config | null
	readonly error: ConfigError | null
	/** A copy of the file, to be written beside it. */
	keep(): Promise<WholeFile>
}

/** Reads the existing tracewatch.yaml. */
export async function lookAround({ folder, env }: SetupPlace, io: Io): Promise<Found> {
	const path = join(folder, 'tracewatch.yaml')
	const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null
		throw new PlainError(`${path} cannot be read: ${error.message}`)
	})
	const kind = text === null ? 'none' : text === shippedText() ? 'example' : isAsWritten(text) ? 'ours' : 'edited'
	const keep = async () => {
		const { mode } = await stat(path)
		const names = [`${path}.old`, ...Array.from({ length: 98 }, (_, at) => `${path}.old.${at + 2}`)]
		const free = names.find((name) => !existsSync(name))
		if (free === undefined) throw new PlainError(`there are too many ${path}.old: remove some`)
		return { path: free, text: text ?? '', mode: mode & 0o777, folderMode: 0o755 }
	}
	if (text === null || kind === 'example') return { path, kind, config: null, error: null, keep }
	try {
		const onSecrets = (secrets: readonly string[]) => void io.scrubber.add(secrets)
		return { path, kind, config: await loadConfig(path, { env, cwd: io.cwd, onSecrets }), error: null, keep }
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		return { path, kind, config: null, error, keep }
	}
}

/** The example that the package installs for users to edit. */
function shippedText(): string | null {
	try {
		return readFileSync(new URL('../../../systemd/tracewatch.yaml', import.meta.url), 'utf8')
	} catch {
		return null
	}
}

interface Into {
	readonly place: SetupPlace
	readonly network: string
	readonly receivers: readonly string[]
	/** The current configuration; null: none, or it has problems. */
	readonly config: Config | null
}

/**
 * The watchlist with the address added: one that `setup` wrote with one more line, or a new one. Files that a person
 * wrote are not changed. Null: the address is watched already.
 */
export async function watchlistWith(watch: SetupWatch, into: Into): Promise<WholeFile | null> {
	const { place, network, receivers, config } = into
	if (config !== null && watchesOn(config.watches, network).has(watch.address.toLowerCase() as Address)) return null
	const folder = folderOf(config, place.watchlists)
	const names = new Set(await readdir(folder).catch(() => []))
	for (let at = 1; ; at++) {
		const name = at === 1 ? `${network}.yaml` : `${network}-${at}.yaml`
		const file = { path: join(folder, name), mode: 0o644, folderMode: 0o755 }
		if (!names.has(name)) return { ...file, text: watchlistText(network, receivers, watch) }
		const text = withWatch(await readFile(file.path, 'utf8'), network, receivers, watch)
		if (text !== null) return { ...file, text }
	}
}

/**
 * The folder of the watchlists; `usual` without a configuration. Throws PlainError when the configuration lists its
 * watchlists file by file.
 */
function folderOf(config: Config | null, usual: string): string {
	if (config === null) return usual
	if ('folder' in config.watchlists) return config.watchlists.folder
	const [file = ''] = config.watchlists.files
	throw new PlainError(
		`${config.path} names its watchlists one by one: add the address to ${file || dirname(config.path)}`,
	)
}

/** The commands to run next, when no service was started. */
export function nextCommands({ isService, called }: SetupPlace, env: NodeJS.ProcessEnv): readonly string[] {
	if (isService) return ['Not started. Next: `systemctl enable --now tracewatch`']
	const quoted = /^[\w./-]+$/.test(called) ? called : `'${called.replaceAll("'", "'\\''")}'`
	const program = `CREDENTIALS_DIRECTORY=${quoted}/secrets ${calledAs(env)}`
	return [
		'Nothing was started. Next:',
		`  ${program} check -c ${quoted}/tracewatch.yaml`,
		`  ${program} run -c ${quoted}/tracewatch.yaml`,
	]
}
