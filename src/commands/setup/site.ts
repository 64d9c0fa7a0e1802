/** Where `setup` writes. */

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { shown } from '../../config/yaml/sourceFile.js'
import { PlainError } from '../../errors.js'
import type { CommandArgs, Io } from '../command.js'
import { calledAs } from '../shared/calledAs.js'
import type { Secrets } from './choose.js'
import { isSystemdHere } from './service.js'
import type { WholeFile } from './writeWhole.js'

export interface SetupPlace {
	/** Path of tracewatch.yaml. */
	readonly path: string
	/** The folder of the watchlists. */
	readonly watchlists: string
	/** The folder of the secrets. */
	readonly secrets: string
	/** As written in tracewatch.yaml. */
	readonly state: string
	readonly http: string | null
	/** Whether systemd runs this configuration. */
	readonly isService: boolean
	/** The folder of tracewatch.yaml as written in shell commands. */
	readonly called: string
}

/** Throws PlainError with advice when nothing can be set up. */
export function placeFor({ values }: CommandArgs, { cwd }: Io): SetupPlace {
	if (typeof values.dir === 'string') {
		const folder = resolve(cwd, values.dir)
		return { ...pathsIn(folder), state: 'state', http: null, isService: false, called: shown(folder, cwd) || '.' }
	}
	const advice = 'to set it up in a folder of its own: `tracewatch setup --dir FOLDER`'
	if (process.getuid?.() !== 0) {
		throw new PlainError(`to set up the service needs root: \`sudo tracewatch setup\`; ${advice}`)
	}
	if (!isSystemdHere())
		throw new PlainError(`this machine was not booted by systemd, so there is no service; ${advice}`)
	return {
		...pathsIn('/etc/tracewatch'),
		state: '/var/lib/tracewatch',
		http: '127.0.0.1:9464',
		isService: true,
		called: '/etc/tracewatch',
	}
}

function pathsIn(folder: string): Pick<SetupPlace, 'path' | 'watchlists' | 'secrets'> {
	const [watchlists, secrets] = [join(folder, 'watchlists'), join(folder, 'secrets')]
	return { path: join(folder, 'tracewatch.yaml'), watchlists, secrets }
}

/** The files that store the secrets, and one that keeps them out of a repository. */
export function secretFiles({ secrets: folder }: SetupPlace, secrets: Secrets): readonly WholeFile[] {
	const ignore = join(folder, '.gitignore')
	return [
		...(existsSync(ignore) ? [] : [{ path: ignore, text: '*\n', mode: 0o644, folderMode: 0o700 }]),
		...Array.from(secrets, ([name, value]) => {
			return { path: join(folder, name), text: `${value}\n`, mode: 0o600, folderMode: 0o700 }
		}),
	]
}

/** Throws PlainError where there is a configuration, other than the example that the package installs. */
export async function refuseConfigured({ path, watchlists }: SetupPlace): Promise<void> {
	const text = await textOf(path)
	if (text === null || text === (await textOf(new URL('../../../systemd/tracewatch.yaml', import.meta.url)))) return
	throw new PlainError(
		`${path} is there already, and setup changes no configuration. To add a receiver, a network or an address, ` +
			`edit ${path} and the files in ${watchlists} (docs/configuration.md); \`tracewatch check\` says what is wrong. ` +
			`To begin anew, move ${path} away first`,
	)
}

/** Null: there is no such file. */
async function textOf(path: string | URL): Promise<string | null> {
	try {
		return await readFile(path, 'utf8')
	} catch (error) {
		if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
		throw new PlainError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
	}
}

/** The path of a watchlist that is not there yet. */
export function freeWatchlist({ watchlists }: SetupPlace, network: string): string {
	for (let at = 1; ; at++) {
		const path = join(watchlists, at === 1 ? `${network}.yaml` : `${network}-${at}.yaml`)
		if (!existsSync(path)) return path
	}
}

/** The commands to run next, when no service was started. */
export function nextCommands({ isService, called }: SetupPlace, env: NodeJS.ProcessEnv): readonly string[] {
	if (isService) return ['Not started. Next: `systemctl enable --now tracewatch`']
	const quoted = /^[\w./-]+$/.test(called) ? called : `'${called.replaceAll("'", "'\\''")}'`
	const program = calledAs(env)
	return [
		'Nothing was started. Next:',
		`  ${program} check -c ${quoted}/tracewatch.yaml`,
		`  ${program} run -c ${quoted}/tracewatch.yaml`,
	]
}
