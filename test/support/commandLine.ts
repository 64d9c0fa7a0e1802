// The command line in this process: as a user types it, without the time that a process of its own takes.
import { runCommandLine } from '../../src/commands/commandLine.js'
import { createScrubber } from '../../src/ops/scrub.js'
import { createTerminal } from '../../src/ops/terminal.js'

export interface Typed {
	readonly cwd: string
	readonly env?: NodeJS.ProcessEnv
	readonly signal?: AbortSignal
}

export async function typed(argv: readonly string[], { cwd, env = {}, signal }: Typed) {
	const [out, err]: [string[], string[]] = [[], []]
	const scrubber = createScrubber()
	const terminal = createTerminal(scrubber, { out: (text) => out.push(text), err: (text) => err.push(text) })
	// The log goes to this process's own standard error.
	const io = {
		...terminal,
		env: { LOG_LEVEL: 'error', ...env },
		cwd,
		isTty: false,
		signal: signal ?? new AbortController().signal,
		scrubber,
	}
	const code = await runCommandLine(argv, io, terminal.fault)
	return { code, out, err, stdout: out.join('\n'), stderr: err.join('\n') }
}
