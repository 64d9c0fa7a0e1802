/**
 * `setup --add` adds a receiver or a chain to a configuration that a person may have edited. Existing text does not
 * change.
 */

import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseDocument } from 'yaml'
import type { Config } from '../../config/load.js'
import { chainNamed } from '../../core/chains.js'
import { PlainError, UsageError } from '../../errors.js'
import type { Secrets, Sources } from './choose.js'
import { withEntry, withKey } from './insert.js'
import { type ChosenReceiver, chooseEndpoint, chooseWatch } from './interview.js'
import { type SetupPlace, watchlistWith } from './site.js'
import { networkLines, receiverLines } from './texts.js'
import type { WholeFile } from './writeWhole.js'

/** What is added, ready to be written. */
export interface Added {
	/** Changed tracewatch.yaml and watchlists. */
	readonly files: readonly WholeFile[]
	readonly secrets: Secrets
}

export interface Into {
	readonly path: string
	readonly config: Config
	readonly place: SetupPlace
	readonly sources: Sources
}

export function addedKind(value: unknown): 'receiver' | 'chain' | 'address' | null {
	if (value === undefined || value === 'receiver' || value === 'chain' || value === 'address') return value ?? null
	throw new UsageError(`--add takes receiver, chain or address, not \`${String(value)}\``)
}

/** Asks for a receiver and adds it. Every watchlist that names receivers at its top level names it too. */
export async function addReceiver(
	{ path, config, place, sources }: Into,
	ask: (sources: Sources) => Promise<ChosenReceiver | null>,
): Promise<Added | null> {
	const text = await readFile(path, 'utf8')
	// Several receivers may share a mail server.
	const stored = (name: string) => (name === 'SMTP_URL' ? place.stored(name) : null)
	const chosen = await ask({ ...sources, stored, receiver: null })
	if (chosen === null) return null
	const { receiver, secrets } = chosen
	const names = new Map([...secrets].map(([usual, value]) => [usual, freeSecret(usual, value, text, place)]))
	const name = freeName(
		receiver.kind === 'mail' ? 'ops-mail' : receiver.format === 'standard' ? 'ops-hook' : `ops-${receiver.format}`,
		config.receivers.map((one) => one.name),
	)
	const [first] = config.receivers
	const lines = [
		...receiverLines(name, receiver, (usual) => names.get(usual) ?? usual),
		...(first === undefined ? [] : [`fallback: ${first.name}   # notified when this one fails`]),
	]
	const own = withFallback(await edited(path, ['receivers'], lines), config, name)
	const lists = await Promise.all(watchlistFiles(config).map((file) => edited(file, ['receivers'], [name])))
	const known = lists.filter((list) => list.after !== null)
	for (const { file, after } of lists) {
		if (after === null) sources.io.err(`  ${file} names no receivers at its top: add ${name} there where it is wanted`)
	}
	return {
		files: [...known.map(fileOf), fileOf(own)],
		secrets: new Map([...secrets].map(([usual, value]) => [names.get(usual) ?? usual, value])),
	}
}

/** Each receiver that has no fallback gets this one, where that changes no other character. */
function withFallback(own: Edited, { receivers }: Config, name: string): Edited {
	let { after } = own
	for (const [at, { fallback }] of receivers.entries()) {
		if (after !== null && fallback === null) after = withKey(after, ['receivers', at], 'fallback', name) ?? after
	}
	return { ...own, after }
}

/**
 * Asks for an endpoint and adds it to the network of its chain; without such a network, adds one and asks for an
 * address to watch there.
 */
export async function addChain({ path, config, place, sources }: Into): Promise<Added> {
	const text = await readFile(path, 'utf8')
	const { chainId, secrets } = await chooseEndpoint({ ...sources, stored: () => null })
	const [[usual = '', url = ''] = []] = [...secrets]
	const known = config.networks.findIndex((network) => network.chainId === chainId)
	const base = known === -1 && usual === 'RPC_URL' && text.includes('${RPC_URL}') ? `RPC_URL_${chainId}` : usual
	const variable = freeSecret(base, url, text, place)
	const added = { secrets: new Map([[variable, url]]) }
	if (known !== -1) {
		sources.io.err(`  one more endpoint of ${config.networks[known]?.name}`)
		return { ...added, files: [fileOf(await edited(path, ['networks', known, 'rpc'], [`\${${variable}}`]))] }
	}
	const { name, symbol } = chainNamed(chainId)
	sources.io.err(`  ${name}, chain ${chainId}, ${symbol}`)
	const own = await edited(path, ['networks'], networkLines(chainId, variable))
	const watch = await chooseWatch(sources, sources.asker === null)
	const receivers = config.receivers.map((one) => one.name)
	const list = watch === null ? null : await watchlistWith(watch, { place, network: name, receivers, config })
	return { ...added, files: [...(list === null ? [] : [list]), fileOf(own)] }
}

interface Edited {
	readonly file: string
	/** Null: the entry cannot be inserted. */
	readonly after: string | null
	readonly path: readonly (string | number)[]
	readonly lines: readonly string[]
	readonly mode: number
}

async function edited(file: string, path: Edited['path'], lines: readonly string[]): Promise<Edited> {
	const [text, { mode }] = await Promise.all([readFile(file, 'utf8'), stat(file)])
	return { file, after: withEntry(text, path, lines), path, lines, mode: mode & 0o777 }
}

/** Throws PlainError with the lines to write by hand when the entry cannot be inserted. */
function fileOf({ file, after, path, lines, mode }: Edited): WholeFile {
	if (after !== null) return { path: file, text: after, mode, folderMode: 0o755 }
	const block = lines.map((line, at) => `  ${at === 0 ? '- ' : '  '}${line}`).join('\n')
	throw new PlainError(
		`${file} is written so that nothing can be put into its ${String(path[0])} without changing the rest; ` +
			`add this there by hand, and the secrets with \`tracewatch secret set\`:\n${block}`,
	)
}

function watchlistFiles({ watchlists, watches }: Config): readonly string[] {
	if ('files' in watchlists) return watchlists.files
	return [...new Set(watches.rules.map(({ watchlist }) => join(watchlists.folder, watchlist)))]
}

function freeName(usual: string, taken: readonly string[]): string {
	for (let at = 1; ; at++) {
		const name = at === 1 ? usual : `${usual}-${at}`
		if (!taken.includes(name)) return name
	}
}

/** A name for a secret: free in the store and not used in the configuration, or already stored with this value. */
function freeSecret(usual: string, value: string, text: string, place: SetupPlace): string {
	for (let at = 1; ; at++) {
		const name = at === 1 ? usual : `${usual}_${at}`
		const kept = place.stored(name)
		if (kept === value || (kept === null && !text.includes(`\${${name}}`))) return name
	}
}

/**
 * Copies the configuration with the addition into a folder of its own, and links the other files beside it. Resolves to
 * the path of the copy.
 */
export async function stageAdded({ path, config }: Into, { files }: Added, folder: string): Promise<string> {
	const own = files.find((file) => file.path === path)
	const document = parseDocument(own?.text ?? (await readFile(path, 'utf8')))
	await linkAll(dirname(path), folder, [basename(path)])
	const changed = files.filter((file) => file.path !== path)
	const lists = join(folder, '.watchlists')
	await mkdir(lists)
	if ('folder' in config.watchlists) {
		const names = changed.map((file) => basename(file.path))
		await linkAll(config.watchlists.folder, lists, names)
		document.set('watchlists', '.watchlists')
	} else {
		const own = new Map(changed.map((file) => [file.path, join(lists, basename(file.path))]))
		document.set(
			'watchlists',
			config.watchlists.files.map((file) => own.get(file) ?? file),
		)
	}
	for (const file of changed) await writeFile(join(lists, basename(file.path)), file.text, { mode: 0o600 })
	const staged = join(folder, basename(path))
	await writeFile(staged, String(document), { mode: 0o600 })
	return staged
}

async function linkAll(from: string, to: string, but: readonly string[]): Promise<void> {
	const names = await readdir(from).catch(() => [])
	for (const name of names) if (!but.includes(name)) await symlink(join(from, name), join(to, name))
}
