import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/load.js'
import { chainNamed } from '../../core/chains.js'
import { PlainError } from '../../errors.js'
import { type Command, type CommandArgs, type ExitCode, exitCodes, type Io } from '../command.js'
import { type Added, addChain, addedKind, addReceiver, type Into, stageAdded } from './add.js'
import { canAsk, createAsker } from './askPerson.js'
import { type Sources, TrialError } from './choose.js'
import { dropDraft, keepDraft, readDraft } from './draft.js'
import { chooseEndpoint, chooseNetwork, chooseReceiver, chooseSecond, chooseWatch, type Endpoint } from './interview.js'
import { needUnit, startService, whileResting } from './service.js'
import { type Found, lookAround, nextCommands, placeFor, type SetupPlace, watchlistWith } from './site.js'
import { configText, RECEIVER, type SetupWatch } from './texts.js'
import { checkStaged, createTrials, stage } from './trial.js'
import { type WholeFile, writeAll } from './writeWhole.js'

export const setup: Command = {
	name: 'setup',
	summary: 'asks for endpoint, receiver and first address, tries them, and starts the service',
	help: `Usage: sudo tracewatch setup [options]
       tracewatch setup --dir FOLDER [options]

Asks for the URL of a node, who is notified (by mail, webhook, Slack, Discord, Telegram, ntfy or PagerDuty), and a first
address. Each answer is tried when it is given (the endpoint, the login of the mail server, a test message), and asked
again alone when it does not work. Then setup writes /etc/tracewatch/tracewatch.yaml, a watchlist, and the secrets as
credentials of the service, for root alone; offers a second receiver, each the fallback of the other; and starts the
service, now and at each boot.

Until the first receiver works nothing is written. The answers of a setup that was stopped are kept beside the secrets,
for their owner alone: the next one goes on from them. Run again, setup keeps what is not answered anew, and adds an
address. A tracewatch.yaml that a person edited is replaced only when that is confirmed, and kept beside the new one.
With --add what is there stays as it is, comments too: a receiver comes into every watchlist, a chain gets a watchlist
of its own, and a second node of a chain that is there becomes its next endpoint.

For scripts, options answer; secrets come from the environment, since others can see options: ETHEREUM_RPC_URL, and
SMTP_URL or OPS_HOOK_URL (for PagerDuty also OPS_HOOK_SECRET, the integration key).

  --address ADDRESS   to watch; --label TEXT names it in alerts, --network NAME says where it is, among several
  --add WHAT          receiver, chain or address: one more of it
  --to MAIL           who gets mails (may be repeated); --from MAIL is their sender
  --format FORMAT     of a webhook: standard (default), slack, discord, telegram (with --chat=NUMBER), ntfy, pagerduty
  --rpc URL, --smtp URL, --webhook URL
                      where the environment does not say it
  --dir FOLDER        everything into this folder, without root and without a service; it says what to run
  --replace           an edited tracewatch.yaml too
  --untested          without asking endpoint and receiver; --chain-id N then names the chain (default: 1)
  --no-start          writes, and leaves the service as it is

Exit codes: 0 done, 1 refused or it does not start, 2 an answer is missing or wrong, 75 endpoint or receiver cannot be
reached now, or stopped (nothing is written), 78 the configuration that is there is wrong.`,
	options: {
		...{ rpc: { type: 'string' }, smtp: { type: 'string' }, webhook: { type: 'string' } },
		...{ to: { type: 'string', multiple: true }, from: { type: 'string' }, format: { type: 'string' } },
		...{ address: { type: 'string' }, label: { type: 'string' }, dir: { type: 'string' } },
		...{ add: { type: 'string' }, network: { type: 'string' }, chat: { type: 'string' } },
		...{ replace: { type: 'boolean' }, untested: { type: 'boolean' }, 'no-start': { type: 'boolean' } },
		'chain-id': { type: 'string' },
	},
	positionals: [0, 0],
	async run(args, io) {
		const place = placeFor(args, io)
		if (place.isService && args.values['no-start'] !== true) await needUnit()
		const asker = canAsk() ? createAsker(io) : null
		const folder = await mkdtemp(join(tmpdir(), 'tracewatch-setup-'))
		const draft = await readDraft(place.draft)
		if (draft.size > 0 && asker !== null) io.err('The answers of a setup that was stopped are kept: Enter takes each.')
		const trials = args.values.untested === true ? null : createTrials(folder, io)
		const sources: Sources = { values: args.values, io, asker, stored: place.stored, receiver: null, trials, draft }
		const mayStop = place.isService && args.values['no-start'] !== true
		try {
			const found = await lookAround(place, io)
			const plan = await planOf(found, place, folder, { ...sources, receiver: receiverOf(found) })
			await apply(plan, place, mayStop, io)
			draft.clear()
			if (plan.isNew && asker !== null) await addSecond(place, mayStop, folder, sources)
			draft.clear()
			await dropDraft(place.draft)
		} catch (error) {
			const isStopped = error instanceof Error && error.name === 'AbortError'
			const isKept = asker !== null && (await keepDraft(place.draft, draft))
			if (isKept)
				io.err(`Your answers are kept in ${place.draft}, for its owner alone: the next setup goes on from them.`)
			if (error instanceof TrialError) {
				io.err(`${error.message}\nnothing was written; --untested writes all the same`)
				return error.code
			}
			if (!isStopped) throw error
			io.err(isKept ? 'stopped; nothing else was written' : 'stopped; nothing was written')
			return exitCodes.tryAgain
		} finally {
			asker?.close()
			await rm(folder, { recursive: true, force: true })
		}
		return await start(place, args, io)
	},
}

/** The files to write, secrets first and the configuration last. */
interface Plan {
	readonly files: readonly WholeFile[]
	/** Whether a service that runs must rest meanwhile: with its old settings, new names in watchlists are mistakes. */
	readonly rests?: true
	/** Whether the configuration is a new one. */
	readonly isNew?: true
}

async function apply({ files, rests }: Plan, place: SetupPlace, mayStop: boolean, io: Io): Promise<void> {
	io.signal.throwIfAborted()
	await whileResting(rests === true && mayStop, () => write(files, place, io))
}

/** Asks for a second receiver. The first configuration is written already, so that stopping here loses nothing. */
async function addSecond(place: SetupPlace, mayStop: boolean, folder: string, sources: Sources): Promise<void> {
	const { path, config } = configured(await lookAround(place, sources.io))
	if (config.receivers.length > 1) return
	const staged = join(folder, 'second')
	await mkdir(staged)
	const plan = await planReceiver({ path, config, place, sources }, staged, chooseSecond)
	if (plan !== null) await apply(plan, place, mayStop, sources.io)
}

async function planOf(found: Found, place: SetupPlace, folder: string, sources: Sources): Promise<Plan> {
	const what = addedKind(sources.values.add)
	if (what === 'address') return await planFrom(found, place, sources)
	if (what !== null) return await planAdded(what, { ...configured(found), place, sources }, folder)
	if (await keeps(found, sources)) return await planFrom(found, place, sources)
	return await planAnew(found, place, folder, sources)
}

/** Adds a receiver or a chain to the existing configuration. */
async function planAdded(what: 'receiver' | 'chain', into: Into, folder: string): Promise<Plan> {
	if (what === 'chain') return await stagedPlan(into, await addChain(into), folder)
	const plan = await planReceiver(into, folder, chooseReceiver)
	return plan ?? { files: [] }
}

async function planReceiver(into: Into, folder: string, ask: Parameters<typeof addReceiver>[1]): Promise<Plan | null> {
	const added = await addReceiver(into, ask)
	return added === null ? null : await stagedPlan(into, added, folder)
}

async function stagedPlan(into: Into, added: Added, folder: string): Promise<Plan> {
	const { place, sources } = into
	const staged = await stageAdded(into, added, folder)
	await checkStaged(staged, added.secrets, place, sources.io)
	const secretFiles = [...added.secrets].flatMap(([name, text]) => place.secretFiles(name, text))
	return { files: [...secretFiles, ...added.files], rests: true }
}

function configured({ path, config, error, kind }: Found): { readonly path: string; readonly config: Config } {
	if (config !== null) return { path, config }
	if (kind === 'none' || kind === 'example')
		throw new PlainError('nothing is set up there yet: `tracewatch setup` first')
	throw error ?? new PlainError(`${path} cannot be used`)
}

function receiverOf({ kind, config }: Found) {
	return (kind === 'ours' && config?.receivers.find(({ name }) => name === RECEIVER)) || null
}

/** Whether the existing tracewatch.yaml is kept. */
async function keeps({ kind, path }: Found, { values, asker, io }: Sources): Promise<boolean> {
	if (kind !== 'edited' || values.replace === true) return false
	const asked = ['rpc', 'smtp', 'webhook', 'to', 'from', 'format', 'chain-id'].filter(
		(name) => values[name] !== undefined,
	)
	if (asker === null) {
		if (asked.length === 0) return true
		throw new PlainError(
			`${path} was edited by hand and stays as it is; --add puts more into it, --replace writes a new one, ` +
				`and without --${asked[0]} an address is added`,
		)
	}
	io.err(`${path} was edited by hand.`)
	const answer = await asker.ask('Write a new one in its place? The old one is kept beside it. [y/N]: ')
	return !/^y(es)?$/i.test(answer)
}

/** Adds an address to the existing configuration. */
async function planFrom(found: Found, place: SetupPlace, sources: Sources): Promise<Plan> {
	const { config } = configured(found)
	const watch = await chooseWatch(sources, config.watches.length > 0)
	const files: WholeFile[] = []
	if (watch !== null) {
		const names = config.networks.map(({ name }) => name)
		const network = await chooseNetwork(sources, names)
		const receivers = config.receivers.map(({ name }) => name)
		const file = await watchlistWith(watch, { place, network, receivers, config })
		if (file !== null) files.push(file)
		else sources.io.out(`${watch.address} is watched already`)
	}
	return { files }
}

async function planAnew(found: Found, place: SetupPlace, folder: string, sources: Sources): Promise<Plan> {
	const { io } = sources
	const mayBeNone = found.config !== null && found.config.watches.length > 0
	// What options say is checked before anything is tried.
	const isGiven = sources.asker === null || sources.values.address !== undefined
	const given = isGiven ? await chooseWatch(sources, mayBeNone) : null
	const endpoint = await chooseEndpoint(sources)
	const { name, symbol } = chainNamed(endpoint.chainId)
	io.err(`  ${name}, chain ${endpoint.chainId}, ${symbol}`)
	refuseOtherChain(found, endpoint)
	const chosen = await chooseReceiver(sources)
	const watch = isGiven ? given : await chooseWatch(sources, mayBeNone)
	const secrets = new Map([...endpoint.secrets, ...chosen.secrets])
	const { chainId } = endpoint
	const settings = { chainId, receiver: chosen.receiver, state: place.state, http: place.http }
	const watchlist = watch === null ? null : await watchlistOf(watch, place, name, found.config)
	io.signal.throwIfAborted()
	const staged = await stage(folder, settings, place, watchlist)
	const own = { path: found.path, text: configText(settings), mode: 0o644, folderMode: 0o755 }
	const files = [
		...[...secrets].flatMap(([variable, text]) => place.secretFiles(variable, text)),
		...(watchlist === null ? [] : [watchlist]),
		...(found.kind === 'edited' ? [await found.keep()] : []),
		own,
	]
	await checkStaged(staged, secrets, place, io)
	return { files, isNew: true }
}

function refuseOtherChain({ kind, config, path }: Found, { chainId }: Endpoint): void {
	const before = kind === 'ours' ? config?.networks[0] : undefined
	if (before === undefined || before.chainId === chainId || config?.watches.length === 0) return
	throw new PlainError(
		`that is a node of chain ${chainId}, and ${path} watches ${before.name} (chain ${before.chainId}): ` +
			'give --add chain to have both',
	)
}

async function watchlistOf(watch: SetupWatch, place: SetupPlace, network: string, config: Config | null) {
	return await watchlistWith(watch, { place, network, receivers: [RECEIVER], config })
}

async function write(files: readonly WholeFile[], { watchlists, hides }: SetupPlace, io: Io): Promise<void> {
	await writeAll(files)
	for (const { path } of files) io.out(`wrote ${path}${hides(path) ? ' (secret, for its owner alone)' : ''}`)
	const signing = files.find(({ path }) => /OPS_HOOK_SECRET(_\d+)?$/.test(path))
	if (signing !== undefined)
		io.out(`Your receiver checks signatures with the secret in ${signing.path} (docs/delivery.md).`)
	if (files.length === 0) io.out(`nothing was changed; watchlists are in ${watchlists}`)
}

async function start(place: SetupPlace, { values }: CommandArgs, io: Io): Promise<ExitCode> {
	if (place.isService && values['no-start'] !== true) {
		await startService()
		io.out('tracewatch runs, now and after each boot. `tracewatch status` says where it stands.')
		if (place.http !== null) io.out(`A page shows it all: http://${place.http}/`)
		io.out('One more receiver, chain or address: `sudo tracewatch setup --add receiver` (chain, address).')
		return exitCodes.done
	}
	for (const line of nextCommands(place, io.env)) io.out(line)
	return exitCodes.done
}
