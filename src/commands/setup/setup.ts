import { loadConfig } from '../../config/load.js'
import { chainNamed } from '../../core/chains.js'
import { ConfigError } from '../../errors.js'
import {
	type Command,
	type CommandArgs,
	type ExitCode,
	exitCodes,
	type Io,
	paragraphs,
	readEachBy,
} from '../command.js'
import { canAsk, createAsker } from './askPerson.js'
import { type Secrets, type Sources, TrialError } from './choose.js'
import { chooseEndpoint, chooseReceiver, chooseWatch } from './interview.js'
import { needUnit, startService } from './service.js'
import { freeWatchlist, nextCommands, placeFor, refuseConfigured, type SetupPlace, secretFiles } from './site.js'
import { configText, watchlistText } from './texts.js'
import { createTrials } from './trial.js'
import { type WholeFile, writeAll } from './writeWhole.js'

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
			.option('--address <address>', 'to watch')
			.option('--label <text>', 'names it in alerts')
			.option('--to <mail>', 'who gets mails (may be repeated)', readEachBy(String))
			.option('--from <mail>', 'sender of the mails')
			.option('--format <format>', 'of a webhook: standard (default), slack, discord, telegram, ntfy, pagerduty')
			.option('--chat <number>', 'of Telegram, as in --chat=-1001234567890')
			.option('--rpc <url>', 'where the environment does not say it')
			.option('--smtp <url>', 'the same')
			.option('--webhook <url>', 'the same')
			.option('--dir <folder>', 'everything into this folder, without root and without a service; it says what to run')
			.option('--untested', 'without asking endpoint and receiver')
			.option('--chain-id <number>', 'with --untested: the chain (default: 1)')
			.option('--no-start', 'writes, and leaves the service as it is')
			.addHelpText(
				'after',
				'\nExit codes: 0 done, 1 refused or it does not start, 2 an answer is missing or wrong, 75 endpoint or\n' +
					'receiver cannot be reached now, or stopped (nothing is written), 78 a watchlist that is there is\n' +
					'wrong (nothing is written).',
			),
	async run(args, io) {
		const place = placeFor(args, io)
		await refuseConfigured(place)
		if (place.isService && args.values.start !== false) await needUnit()
		const asker = canAsk() ? createAsker(io) : null
		const trials = args.values.untested === true ? null : createTrials(io)
		try {
			const answered = await askFor(place, { values: args.values, io, asker, trials })
			io.signal.throwIfAborted()
			await write(answered, place, io)
		} catch (error) {
			if (error instanceof TrialError) {
				io.err(`${error.message}\nnothing was written; --untested writes all the same`)
				return error.code
			}
			if (error instanceof ConfigError) io.err('nothing was written, since a file that is there does not fit:')
			if (!(error instanceof Error) || error.name !== 'AbortError') throw error
			io.err('stopped; nothing was written')
			return exitCodes.tryAgain
		} finally {
			asker?.close()
		}
		return await start(place, args, io)
	},
}

interface Answered {
	/** Secrets first and the configuration last. */
	readonly files: readonly WholeFile[]
	readonly secrets: Secrets
}

async function askFor(place: SetupPlace, sources: Sources): Promise<Answered> {
	const { values, io, asker } = sources
	// What options say is checked before anything is tried.
	const given = asker === null || values.address !== undefined ? await chooseWatch(sources) : null
	const { chainId, secrets: ofEndpoint } = await chooseEndpoint(sources)
	const { name, symbol } = chainNamed(chainId)
	io.err(`  ${name}, chain ${chainId}, ${symbol}`)
	const { receiver, secrets: ofReceiver } = await chooseReceiver(sources)
	const watch = given ?? (await chooseWatch(sources))
	const secrets = new Map([...ofEndpoint, ...ofReceiver])
	const settings = configText({ chainId, receiver, state: place.state, http: place.http })
	const open = { mode: 0o644, folderMode: 0o755 }
	const files = [
		...secretFiles(place, secrets),
		{ path: freeWatchlist(place, name), text: watchlistText(name, watch), ...open },
		{ path: place.path, text: settings, ...open },
	]
	return { files, secrets }
}

async function write({ files, secrets }: Answered, { path }: SetupPlace, io: Io): Promise<void> {
	const onSecrets = (all: readonly string[]) => void io.scrubber.add(all)
	const env = { ...io.env, ...Object.fromEntries(secrets) }
	// A watchlist that is there may name other networks or receivers.
	await writeAll(files, async () => void (await loadConfig(path, { env, cwd: io.cwd, onSecrets })))
	for (const { path, mode } of files)
		io.out(`wrote ${path}${(mode & 0o077) === 0 ? ' (secret, for its owner alone)' : ''}`)
	const signing = files.find(({ path }) => path.endsWith('OPS_HOOK_SECRET'))
	if (signing !== undefined)
		io.out(`Your receiver checks signatures with the secret in ${signing.path} (docs/delivery.md).`)
}

async function start(place: SetupPlace, { values }: CommandArgs, io: Io): Promise<ExitCode> {
	if (place.isService && values.start !== false) {
		await startService()
		io.out('tracewatch runs, now and after each boot. `tracewatch status` says where it stands.')
		if (place.http !== null) io.out(`A page shows it all: http://${place.http}/`)
		io.out(`More receivers, chains and addresses: edit ${place.path} and ${place.watchlists}.`)
		return exitCodes.done
	}
	for (const line of nextCommands(place, io.env)) io.out(line)
	return exitCodes.done
}
