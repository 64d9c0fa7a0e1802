// The process around the command line: console, signals, exit code. Besides `cli.ts`, the only file that uses them.

import { keepYoungSmall } from './base/heapTuning.js'
import { exitCodes } from './commands/command.js'
import { describeError, runCommandLine } from './commands/commandLine.js'
import { createScrubber } from './ops/scrub.js'
import { createTerminal } from './ops/terminal.js'

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
		terminal.fault(describeError(error, stop.signal).text)
		process.exit(exitCodes.failed)
	})
}
// A reader that closes the pipe (`| head`) is no failure, nor is a terminal that has gone.
for (const stream of [process.stdout, process.stderr]) {
	stream.on('error', (error: NodeJS.ErrnoException) => {
		if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
	})
}

keepYoungSmall()
/** Resolves when the reader has taken all output, or has gone. */
function written(stream: NodeJS.WriteStream): Promise<void> {
	return new Promise((resolve) => {
		if (stream.destroyed) resolve()
		else stream.once('close', resolve).write('', () => resolve())
	})
}

const io = {
	out: terminal.out,
	err: terminal.err,
	env: process.env,
	cwd: process.cwd(),
	isTty: process.stdout.isTTY === true,
	signal: stop.signal,
	scrubber,
}
process.exitCode = await runCommandLine(process.argv.slice(2), io, terminal.fault)
// The reader of a pipe may be slow: what it has not taken yet would be lost.
await Promise.all([process.stdout, process.stderr].map(written))
// An open handle must not keep a finished program alive.
setTimeout(() => process.exit(), 1_000).unref()
