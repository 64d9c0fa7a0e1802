// Runs the command line and sets the exit code. Besides `cli.ts`, the only file that uses the console and process.exit.

import { parseArgs } from 'node:util'
import { startSmall } from './base/heapTuning.js'
import { type Command, type ExitCode, exitCodes, type Io } from './commands/command.js'
import { withSudoHint } from './commands/shared/sudoHint.js'
import { ConfigError, PlainError, RpcError, StateError, UsageError } from './errors.js'
import { createScrubber } from './ops/scrub.js'
import { createTerminal } from './ops/terminal.js'
import { version } from './version.js'

const commands: Readonly<Record<string, () => Promise<Command>>> = {
	run: async () => (await import('./commands/run.js')).run,
	once: async () => (await import('./commands/once.js')).once,
	check: async () => (await import('./commands/check.js')).check,
	doctor: async () => (await import('./commands/doctor/doctor.js')).doctor,
	status: async () => (await import('./commands/status.js')).status,
	'test-send': async () => (await import('./commands/testSend.js')).testSend,
	replay: async () => (await import('./commands/replay.js')).replay,
	watch: async () => (await import('./commands/watch.js')).watch,
	explain: async () => (await import('./commands/explain/explain.js')).explain,
	deliveries: async () => (await import('./commands/state/deliveries.js')).deliveries,
	gaps: async () => (await import('./commands/state/gaps.js')).gaps,
	state: async () => (await import('./commands/state/state.js')).state,
	setup: async () => (await import('./commands/setup/setup.js')).setup,
}

/** What to do instead of a command that is gone. */
const removedCommands: Readonly<Record<string, string>> = {
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
}

/** The same of options. */
const removedOptions: Readonly<Record<string, string>> = {
	'replay --send': '`tracewatch deliveries retry` sends again what was not delivered',
	'replay --bom': '`--format json` is for programs',
	'explain --block': '`tracewatch explain TXHASH` finds the block',
}

async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
	startSmall()
	const [name, ...rest] = commandFirst(argv)
	if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
		io.out(await overview())
		if (name !== undefined) return exitCodes.done
		const { nextStep } = await import('./commands/nextStep.js')
		for (const line of ['', ...(await nextStep(io))]) io.out(line)
		return exitCodes.usage
	}
	if (name === '--version' || name === '-V') {
		io.out(version)
		return exitCodes.done
	}
	const load = Object.hasOwn(commands, name) ? commands[name] : undefined
	if (/^(-c|--config)/.test(name)) throw new UsageError('which command? such as `tracewatch check -c FILE`')
	if (load === undefined) {
		const instead = Object.hasOwn(removedCommands, name) ? removedCommands[name] : undefined
		if (instead !== undefined) throw new UsageError(`\`${name}\` was removed: ${instead}`)
		const near = await nearest(name, Object.keys(commands))
		throw new UsageError(`there is no command \`${name}\`${near}; \`tracewatch --help\` lists them`)
	}
	const command = await load()
	const { values, positionals } = await parse(command, rest)
	if (values.help === true) {
		io.out(command.help)
		return exitCodes.done
	}
	const [least, most] = command.positionals
	if (positionals.length < least) {
		const usage = command.help.split('\n', 1)[0]?.replace('Usage: ', '')
		throw new UsageError(`\`${name}\` needs more: ${usage}; see \`tracewatch ${name} --help\``)
	}
	if (positionals.length > most) throw new UsageError(`\`${name}\` does not take \`${positionals[most]}\``)
	return await command.run({ values, positionals }, io)
}

/** Accepts `-c FILE` also before the command. */
function commandFirst(argv: readonly string[]): readonly string[] {
	const [first = '', second, ...rest] = argv
	if (/^(--config=|-c.)/.test(first) && second !== undefined) return [second, ...rest, first]
	if (!['-c', '--config'].includes(first) || second === undefined || rest[0] === undefined) return argv
	return [...rest, first, second]
}

/** `; did you mean …?`, or an empty text. */
async function nearest(word: string, known: readonly string[]): Promise<string> {
	const { oneOf, suggestion } = await import('./config/words.js')
	const begun = word.length < 2 ? [] : known.filter((one) => one.startsWith(word))
	return begun.length === 0 ? suggestion(word, known) : `; did you mean ${oneOf(begun.map((one) => `\`${one}\``))}?`
}

async function parse(command: Command, args: string[]) {
	const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const
	try {
		return parseArgs({ args, options, allowPositionals: true, strict: true })
	} catch (error) {
		const help = `see \`tracewatch ${command.name} --help\``
		const unknown = /^Unknown option '(-{1,2})([^']{1,64})'/.exec(error instanceof Error ? error.message : '')
		if (unknown === null) throw new UsageError(`${error instanceof Error ? error.message : error}; ${help}`)
		const [, dashes = '', name = ''] = unknown
		const removed = `${command.name} --${name}`
		const instead = Object.hasOwn(removedOptions, removed) ? removedOptions[removed] : undefined
		if (instead !== undefined) throw new UsageError(`\`${removed}\` was removed: ${instead}`)
		const near = await nearest(name, Object.keys(options))
		throw new UsageError(
			`\`${command.name}\` has no option \`${dashes}${name}\`${near.replaceAll(/`([^`]+)`/g, '`--$1`')}; ${help}`,
		)
	}
}

async function overview(): Promise<string> {
	const all = await Promise.all(Object.values(commands).map((load) => load()))
	const lines = all.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`)
	return [
		'tracewatch alerts you when a watched address sends or receives coins or deploys a contract.',
		'',
		'Usage: tracewatch <command> [-c tracewatch.yaml] [options]',
		'',
		...lines,
		'',
		'`tracewatch <command> --help` says more. Exit codes: 0 done, 1 failed, 2 wrong usage, 75 try again later,',
		'78 the configuration is wrong.',
	].join('\n')
}

/** The message and exit code for an error. Only a bug of this program is printed with a stack. */
function describe(error: unknown): { text: string; code: ExitCode } {
	if (stop.signal.aborted && error instanceof Error && error.name === 'AbortError') {
		return { text: 'stopped', code: exitCodes.tryAgain }
	}
	if (error instanceof ConfigError) return { text: error.message, code: exitCodes.config }
	if (error instanceof UsageError) return { text: error.message, code: exitCodes.usage }
	if (error instanceof RpcError) return { text: error.message, code: exitCodes.tryAgain }
	if (error instanceof StateError && error.reason === 'format') return { text: error.message, code: exitCodes.config }
	if (error instanceof StateError || error instanceof PlainError) return { text: error.message, code: exitCodes.failed }
	if (error instanceof Error && 'syscall' in error) return { text: error.message, code: exitCodes.failed }
	if (error instanceof Error)
		return { text: `this is a fault of tracewatch itself: ${error.stack}`, code: exitCodes.failed }
	return { text: String(error), code: exitCodes.failed }
}

const scrubber = createScrubber()
const terminal = createTerminal(scrubber, { out: console.log, err: console.error })
const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
	process.on(signal, () => {
		if (stop.signal.aborted) process.exit(exitCodes.failed)
		if (process.stderr.isTTY) console.error('stopping; a second signal forces it')
		stop.abort()
	})
}
// Node's own message would show secrets.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
	process.on(event, (error: unknown) => {
		terminal.fault(describe(error).text)
		process.exit(exitCodes.failed)
	})
}
// A reader that closes the pipe (`| head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
	stream.on('error', (error: NodeJS.ErrnoException) => {
		if (error.code !== 'EPIPE') throw error
	})
}

try {
	process.exitCode = await main(process.argv.slice(2), {
		out: terminal.out,
		err: terminal.err,
		env: process.env,
		cwd: process.cwd(),
		isTty: process.stdout.isTTY === true,
		signal: stop.signal,
		scrubber,
	})
} catch (error) {
	const { text, code } = describe(error)
	terminal.fault(withSudoHint(text))
	process.exitCode = code
}
// An open handle must not keep a finished program alive.
setTimeout(() => process.exit(), 1_000).unref()
