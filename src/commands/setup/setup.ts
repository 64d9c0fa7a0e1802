import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Option } from 'commander'
import { codeOf } from '../../base/systemError.js'
import { loadConfig } from '../../config/load.js'
import { readChainId, readMailbox } from '../../config/values.js'
import { reason, shown } from '../../config/yaml/sourceFile.js'
import { chainNamed } from '../../core/chains.js'
import { ConfigError, PlainError } from '../../errors.js'
import { packageRoot } from '../../version.js'
import { type Command, exitCodes, type Io, paragraphs, readBy } from '../command.js'
import { readingOf } from '../shared/openConfig.js'
import { ask, unanswered } from './ask.js'
import { hookFormats, questions, readLabel, readWatched } from './questions.js'
import { configText, type Said, secretsOf, watchlistText } from './texts.js'

/** As Said, except for `format`. */
interface Values extends Omit<Said, 'chainId'> {
	readonly chainId?: number
	readonly format?: string
	readonly dir?: string
	readonly untested?: boolean
	readonly yes?: boolean
	readonly start: boolean
}

export const setup: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Asks for the URL of a node, who is notified (by mail, webhook, Slack, Discord, Telegram, ntfy
or PagerDuty), and a first address. Each answer is tried when it is given (the endpoint, the login of the mail server,
a test message), and asked again alone when it does not work. Then setup writes /etc/tracewatch/tracewatch.yaml, a
watchlist, and the secrets in secrets/ beside them, for their owner alone; and starts the service, now and at each
boot.

Until the last answer works nothing is written. A configuration that is there is never changed: edit its YAML.

For scripts, options answer; secrets come from the environment, since others can see options: ETHEREUM_RPC_URL, and
SMTP_URL or OPS_HOOK_URL (for PagerDuty also OPS_HOOK_SECRET, the integration key).`),
			)
			.option('--address <address>', 'to watch', readBy(readWatched))
			.option('--label <text>', 'names it in alerts', readBy(readLabel))
			.option('--to <mail>', 'who gets mails (may be repeated)', (one, before?: string) =>
				before === undefined ? one : `${before},${one}`,
			)
			.option('--from <mail>', 'sender of the mails (default: the user of the mail server)', readBy(readMailbox))
			.addOption(new Option('--format <format>', 'of a webhook; default: standard').choices(hookFormats))
			.option('--chat <number>', 'of Telegram, where the URL does not say it, as in --chat=-1001234567890')
			.option('--rpc <url>', 'where the environment does not say it')
			.option('--smtp <url>', 'the same')
			.addOption(new Option('--webhook <url>', 'the same').conflicts(['smtp', 'to']))
			.option('--dir <folder>', 'everything into this folder, without root and without a service; it says what to run')
			.option('--untested', 'without asking endpoint and receiver')
			.option(
				'--chain-id <number>',
				'the chain that the endpoint must be of (--untested, default: 1)',
				readBy(readChainId),
			)
			.option('--yes', 'asks nothing: what no option and no variable says is as usual, or an error')
			.option('--no-start', 'writes, and leaves the service as it is'),
	async run(args, io) {
		const values = args.values as unknown as Values
		const place = placeFor(values.dir, io)
		await refuseWhatIsThere(place)
		for (const folder of foldersOf(place)) await tryFolder(folder)
		const isStarted = place.isService && values.start
		if (isStarted) await needUnit()
		const asks = process.stdin.isTTY === true && process.stderr.isTTY === true && values.yes !== true
		try {
			const said = saidBy(values, io)
			// Before anything is tried.
			if (!asks && said.address === undefined) throw unanswered({ key: 'address' })
			const interview = { io, asks, tries: values.untested !== true }
			for (const question of questions) {
				const code = await ask(question, said, interview)
				if (code === exitCodes.done) continue
				io.err('nothing was written; --untested writes all the same')
				return code
			}
			io.signal.throwIfAborted()
			await write(said, place, io)
		} catch (error) {
			if (error instanceof ConfigError) io.err('nothing was written, since a file that is there does not fit:')
			if (!(error instanceof Error) || error.name !== 'AbortError') throw error
			io.err('stopped; nothing was written')
			return exitCodes.tryAgain
		}
		if (isStarted) await startService()
		for (const line of whatNext(place, isStarted, io.cwd)) io.out(line)
		return exitCodes.done
	},
}

/** What options and the environment say; options come first. */
function saidBy({ format, chainId, ...values }: Values, { env, scrubber }: Io): Said {
	/** Undefined where both are there, or none. */
	const chosen = (mail: unknown, hook: unknown) =>
		(mail === undefined) === (hook === undefined) ? undefined : mail === undefined ? (format ?? 'standard') : 'mail'
	const by = chosen(values.smtp ?? values.to, values.webhook ?? format) ?? chosen(env.SMTP_URL, env.OPS_HOOK_URL)
	// As Standard Webhooks specifies it.
	const signing = env.OPS_HOOK_SECRET ?? `whsec_${randomBytes(32).toString('base64')}`
	const chain = { chainId: chainId ?? 1, ...(chainId !== undefined && { expectedChainId: chainId }) }
	const said: Said = { ...values, ...chain, signing, ...(by !== undefined && { by }) }
	if (said.address !== undefined) said.label ??= ''
	scrubber.add([signing])
	for (const { key, variables = [], isSecret } of questions) {
		const variable = said[key] === undefined ? variables.find((name) => env[name] !== undefined) : undefined
		if (variable !== undefined) said.variables = { ...said.variables, [key]: variable }
		const given = said[key] ?? env[variable ?? '']
		if (given === undefined) continue
		said[key] = given
		if (isSecret) scrubber.add([given])
	}
	return said
}

/** `state`, `http`: as written in tracewatch.yaml. `isService`: systemd runs this configuration. */
type Place = ReturnType<typeof placeFor>

/** Throws PlainError with advice when nothing can be set up. */
function placeFor(dir: string | undefined, { cwd }: Io) {
	if (dir !== undefined) return { folder: resolve(cwd, dir), state: 'state', http: null, isService: false }
	const advice = 'to set it up in a folder of its own: `tracewatch setup --dir FOLDER`'
	if (process.getuid?.() !== 0)
		throw new PlainError(`to set up the service needs root: \`sudo tracewatch setup\`; ${advice}`)
	// sd_booted(3)
	if (!existsSync('/run/systemd/system'))
		throw new PlainError(`this machine was not booted by systemd, so there is no service; ${advice}`)
	return { folder: '/etc/tracewatch', state: '/var/lib/tracewatch', http: '127.0.0.1:9464', isService: true }
}

/** Throws PlainError where there is a configuration, other than the example of the package, or one of its secrets. */
async function refuseWhatIsThere({ folder }: Place): Promise<void> {
	const path = join(folder, 'tracewatch.yaml')
	if (existsSync(path)) {
		const example = new URL('systemd/tracewatch.yaml', packageRoot)
		const [text, shipped] = await Promise.all([path, example].map((file) => readFile(file, 'utf8').catch(() => null)))
		if (text === null || text !== shipped)
			throw new PlainError(
				`${path} is there already, and setup changes no configuration. To add a receiver, a network or an address, ` +
					`edit ${path} and the files in ${join(folder, 'watchlists')} (docs/configuration.md); \`tracewatch check\` ` +
					`says what is wrong. To begin anew, move ${path} and ${join(folder, 'secrets')} away first`,
			)
	}
	const names = questions.flatMap(({ variables = [] }) => variables)
	const secret = names.map((name) => join(folder, 'secrets', name)).find((file) => existsSync(file))
	if (secret !== undefined)
		throw new PlainError(`${secret} is there already, and setup overwrites no secret: move it away first`)
}

function foldersOf({ folder }: Place) {
	return [folder, join(folder, 'secrets'), join(folder, 'watchlists')] as const
}

/**
 * Makes a folder in the nearest one that exists, and removes it. `mkdir` with `recursive` would not do: below /proc it
 * never ends. Throws PlainError.
 */
async function tryFolder(folder: string): Promise<void> {
	let there = folder
	while (!existsSync(there)) there = dirname(there)
	try {
		await rmdir(await mkdtemp(join(there, '.tracewatch-')))
	} catch (error) {
		throw new PlainError(
			`setup cannot make files in ${there} (${codeOf(error)}): ${reason(error)}. Nothing was written; ` +
				'name another folder by `--dir FOLDER`',
		)
	}
}

/** The configuration comes last; when something fails, what was written goes again. */
async function write(said: Said, place: Place, io: Io): Promise<void> {
	await refuseWhatIsThere(place)
	// The user of the service must be able to read the folders, also on a hardened machine.
	process.umask(0o022)
	const [folder, secretsFolder, watchlists] = foldersOf(place)
	await mkdir(folder, { recursive: true })
	await mkdir(secretsFolder, { recursive: true, mode: 0o700 })
	await mkdir(watchlists, { recursive: true })
	const path = join(folder, 'tracewatch.yaml')
	const fresh = `${path}.${randomBytes(6).toString('hex')}`
	const watchlist = freeWatchlist(watchlists, chainNamed(said.chainId).name)
	const ignore = join(secretsFolder, '.gitignore')
	const secrets = secretsOf(said)
	const secretFiles = Object.entries(secrets).map(([secret, value]) => [join(secretsFolder, secret), value] as const)
	const written: string[] = []
	const keep = async (file: string, text: string, mode = 0o644) => {
		written.push(file)
		await writeFile(file, text, { mode, flag: 'wx', flush: true })
	}
	try {
		if (!existsSync(ignore)) await keep(ignore, '*\n')
		for (const [file, value] of secretFiles) await keep(file, `${value}\n`, 0o600)
		await keep(watchlist, watchlistText(said))
		await keep(fresh, configText(said, place))
		// A watchlist that is there may name other networks or receivers.
		await loadConfig(fresh, { ...readingOf(io), env: { ...io.env, ...secrets } })
		await rename(fresh, path)
	} catch (error) {
		// The last file was there before.
		if (error instanceof Error && 'code' in error && error.code === 'EEXIST') written.pop()
		for (const file of written) await rm(file, { force: true })
		throw error
	}
	for (const [file] of secretFiles) io.out(`wrote ${file} (secret, for its owner alone)`)
	for (const file of [watchlist, path]) io.out(`wrote ${file}`)
	if (said.by === 'standard')
		io.out(`Your receiver checks signatures with the secret in ${secretsFolder}/OPS_HOOK_SECRET (docs/delivery.md).`)
}

/** The path of a watchlist that is not there yet. */
function freeWatchlist(folder: string, network: string): string {
	for (let at = 1; ; at++) {
		const path = join(folder, at === 1 ? `${network}.yaml` : `${network}-${at}.yaml`)
		if (!existsSync(path)) return path
	}
}

const call = promisify(execFile)
const UNIT = 'tracewatch.service'

async function needUnit(): Promise<void> {
	if ((await call('systemctl', ['cat', UNIT]).catch(() => null)) !== null) return
	throw new PlainError(
		`the unit ${UNIT} is not installed: install the Debian package, or copy systemd/*.service of the program to ` +
			'/etc/systemd/system and run `systemctl daemon-reload`; --no-start writes the files alone',
	)
}

/** Resolves when the service reports that it is ready. A restart, since secrets are read at the start. */
async function startService(): Promise<void> {
	try {
		for (const act of [['daemon-reload'], ['enable', UNIT], ['restart', UNIT]]) await call('systemctl', act)
	} catch {
		const log = await call('journalctl', ['-u', UNIT, '-n', '15', '-o', 'cat', '--no-pager']).catch(() => null)
		throw new PlainError(
			`the files are written, but the service does not start; the end of its log:\n${log?.stdout.trim() ?? ''}`,
		)
	}
}

function whatNext({ folder, isService, http }: Place, isStarted: boolean, cwd: string): readonly string[] {
	const fromNowOn =
		'Alerts begin with the first block after the first poll of the daemon; what happens before it is not reported.'
	if (isStarted)
		return [
			'tracewatch runs, now and after each boot. `tracewatch status` says where it stands.',
			fromNowOn,
			`A page shows it all: http://${http}/`,
			`More receivers, chains and addresses: edit ${folder}/tracewatch.yaml and ${folder}/watchlists.`,
		]
	if (isService) return [fromNowOn, 'Not started. Next: `systemctl enable --now tracewatch`']
	const path = join(shown(folder, cwd), 'tracewatch.yaml')
	const quoted = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
	// A clone has no `tracewatch` on its path.
	const program = process.argv[1] === resolve('dist/cli.js') ? 'node dist/cli.js' : 'tracewatch'
	return [fromNowOn, 'Nothing was started. Next:', ...['check', 'run'].map((act) => `  ${program} ${act} -c ${quoted}`)]
}
