/** The command line, without the process around it: which commands there are, what became of others, and errors. */

import { CommanderError, Command as Declaration } from 'commander'
import { ConfigError, PlainError, RpcError, StateError, UsageError } from '../errors.js'
import { version } from '../version.js'
import { type Command, type ExitCode, exitCodes, type Io } from './command.js'
import { withSudoHint } from './shared/sudoHint.js'

/** Only the command that is called is loaded. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
	run: async () => (await import('./run.js')).run,
	once: async () => (await import('./once.js')).once,
	check: async () => (await import('./check.js')).check,
	doctor: async () => (await import('./doctor/doctor.js')).doctor,
	status: async () => (await import('./status.js')).status,
	'test-send': async () => (await import('./testSend.js')).testSend,
	replay: async () => (await import('./replay.js')).replay,
	watch: async () => (await import('./watch.js')).watch,
	explain: async () => (await import('./explain/explain.js')).explain,
	deliveries: async () => (await import('./state/deliveries.js')).deliveries,
	gaps: async () => (await import('./state/gaps.js')).gaps,
	state: async () => (await import('./state/state.js')).state,
	setup: async () => (await import('./setup/setup.js')).setup,
}

/** For the list of commands in `--help`. */
const summaries: Readonly<Record<string, string>> = {
	run: 'the daemon: polls each network on its schedule and delivers, until it is stopped',
	once: 'one poll of every network up to its target, then every due delivery once',
	check: 'reads configuration and watchlists and says who is notified of what',
	doctor: 'asks each endpoint what it can do, and whether its answers can be trusted',
	status: 'checkpoints, lag and deliveries, from the state; works beside a running daemon',
	'test-send': 'sends one sample alert, marked as a test, to a receiver',
	replay: 'scans a range of blocks and prints the alerts it would have sent',
	watch: 'watches one address on the terminal, without any file',
	explain: "draws a transaction's call tree, and says what counts for a watch, and why",
	deliveries: 'lists what is pending, held, parked or dead, or what was sent; retries or drops it',
	gaps: 'lists blocks that no endpoint gives; accepts them, or asks for them again',
	state: 'copies the whole state between a folder and a database',
	setup: 'asks for endpoint, receiver and first address, tries them, and starts the service',
}

/** What to do instead of a command, an act or an option that is gone. */
const removed: Readonly<Record<string, string>> = {
	import: 'write a watchlist, see docs/configuration.md; `addresses_from` reads addresses from a CSV file',
	statement:
		'`tracewatch deliveries --sent` lists what was sent, and `/alerts?format=json` of the pages has the alerts',
	control: 'the page of a watch, `/watch`, shows who rules it',
	init: 'copy the folder `examples/starter`, or run `tracewatch setup`',
	demo: '`npm run demo` in a clone plays it',
	schema: 'the JSON Schemas are the files in `schema/`',
	devnode: 'use `npx @foundry-rs/anvil`',
	history: '`tracewatch deliveries --sent` lists what was sent',
	secret: 'secrets are files: `secrets/NAME` beside tracewatch.yaml, or /etc/tracewatch/secrets/NAME; mode 0600',
	'replay --send': '`tracewatch deliveries retry` sends again what was not delivered',
	'replay --bom': '`--format json` is for programs',
	'explain --block': '`tracewatch explain TXHASH` finds the block',
	'setup --add': 'edit tracewatch.yaml and the watchlists; `tracewatch check` says what they mean',
	'setup --network': 'name the network in the watchlist, with the addresses to watch',
	'setup --replace': 'setup changes no configuration that is there; edit it, or name another folder by `--dir`',
	'state export': '`tracewatch state copy FROM TO` copies the whole state',
	'state import': '`tracewatch state copy FROM TO` copies the whole state',
}

/** Does what the words say, prints what went wrong by `fault`, and never throws. */
export async function runCommandLine(
	argv: readonly string[],
	io: Io,
	fault: (text: string) => void = io.err,
): Promise<ExitCode> {
	try {
		return await answerTo(argv, io)
	} catch (error) {
		const { text, code } = describeError(error, io.signal)
		// A node's own "permission denied" is no reason to advise sudo.
		fault(error instanceof RpcError ? text : withSudoHint(text))
		return code
	}
}

async function answerTo(argv: readonly string[], io: Io): Promise<ExitCode> {
	let code: ExitCode = exitCodes.done
	const program = createProgram(io, (ended) => {
		code = ended
	})
	try {
		const [first, name] = argv
		// Commander's own `help` knows no options: a command declares them once it is loaded.
		const words = first === 'help' && name !== undefined ? [name, '--help'] : argv
		await program.parseAsync(words, { from: 'user' })
		return code
	} catch (error) {
		if (!(error instanceof CommanderError)) throw error
		if (error.exitCode === 0) return exitCodes.done
		if (error.code !== 'commander.help') throw usageOf(error, program)
		if (program.opts().config !== undefined) throw new UsageError('which command? such as `tracewatch check -c FILE`')
		return exitCodes.usage
	}
}

function createProgram(io: Io, onEnd: (code: ExitCode) => void): Declaration {
	const print = (text: string) => io.out(text.trimEnd())
	const program = new Declaration('tracewatch')
		.description(
			'tracewatch alerts you when a watched address sends or receives coins or deploys a contract. Begin with ' +
				'`setup`, or with `watch ADDRESS --rpc URL`, which needs no file.',
		)
		.usage('<command> [-c tracewatch.yaml] [options]')
		.version(version, '-V, --version')
		.option('-c, --config <file>', 'may also be named before the command')
		.addHelpText(
			'afterAll',
			'\nExit codes: 0 done, 1 failed, 2 wrong usage, 75 try again later (nothing is\n' +
				'lost), 78 the configuration is wrong. `tracewatch <command> --help` says more.',
		)
		.enablePositionalOptions()
		.exitOverride()
		.configureOutput({ writeOut: print, writeErr: print, outputError() {} })
	for (const [name, load] of Object.entries(commands)) {
		const command = program.command(name).summary(summaries[name] ?? '')
		command.action(async () => {
			onEnd(await (await load()).run({ values: command.opts(), positionals: command.args }, io))
		})
	}
	return program.hook('preSubcommand', async (_, command) => {
		const { config } = program.opts<{ config?: string }>()
		const declared = (await commands[command.name()]?.())?.declare(command) ?? command
		if (config === undefined) return
		if (!declared.options.some(({ long }) => long === '--config'))
			throw new UsageError(`\`${command.name()}\` reads no configuration: leave out -c`)
		declared.setOptionValue('config', config)
	})
}

/** Commander's words, in one line, with what to do. Of what is gone, what replaces it, whatever else is wrong. */
function usageOf({ message }: CommanderError, { args: [name = '', ...rest] }: Declaration): UsageError {
	const gone = [name, ...rest.map((word) => `${name} ${word}`)].find((words) => Object.hasOwn(removed, words))
	if (gone !== undefined) return new UsageError(`\`${gone}\` was removed: ${removed[gone]}`)
	const words = message
		.replace(/^error: /, '')
		// Commander repeats the whole argument, which may be a key or hold one.
		.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s']+/gi, '$1…')
		.replace(/(0x[0-9a-f]{6})[0-9a-f]{35,}/gi, '$1…')
		.replace(/\n\(Did you mean (.+)\?\)$/s, '; did you mean $1?')
		.replace(/\.$/, '')
	const help = Object.hasOwn(commands, name) ? `tracewatch ${name} --help` : 'tracewatch --help'
	return new UsageError(`${words}; see \`${help}\``)
}

/** The message and exit code for an error. Only a bug of this program is printed with a stack. */
export function describeError(error: unknown, signal: AbortSignal): { readonly text: string; readonly code: ExitCode } {
	if (!(error instanceof Error)) return { text: String(error), code: exitCodes.failed }
	const text = error.message
	if (signal.aborted && error.name === 'AbortError') return { text: 'stopped', code: exitCodes.tryAgain }
	if (error instanceof ConfigError) return { text, code: exitCodes.config }
	if (error instanceof UsageError) return { text, code: exitCodes.usage }
	if (error instanceof RpcError)
		return { text, code: error.facts.wrongChainId === undefined ? exitCodes.tryAgain : exitCodes.config }
	if (error instanceof StateError)
		return { text, code: error.reason === 'format' ? exitCodes.config : exitCodes.failed }
	if (error instanceof PlainError || 'syscall' in error) return { text, code: exitCodes.failed }
	return { text: `this is a fault of tracewatch itself: ${error.stack}`, code: exitCodes.failed }
}
