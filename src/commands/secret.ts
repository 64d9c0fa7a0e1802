import { createInterface } from 'node:readline'
import { credentialPath } from '../config/settings/interpolate.js'
import { PlainError, UsageError } from '../errors.js'
import { createAsker } from './ask.js'
import { type Command, exitCodes, type Io } from './command.js'
import { writeWhole } from './writeWhole.js'

export const secret: Command = {
	name: 'secret',
	summary: 'writes a secret where the service finds it; asks without showing it',
	help: `Usage: tracewatch secret set NAME

Asks for a secret without echo (or reads one line from a pipe) and writes it to /etc/credstore/tracewatch.NAME, for root
alone. systemd hands it to the service, and \${NAME} in tracewatch.yaml stands for it; a service that runs needs a
restart. The units shipped take ETHEREUM_RPC_URL, RPC_URL, SMTP_URL, OPS_HOOK_URL and OPS_HOOK_SECRET; for another name
give the unit a line LoadCredential=NAME:tracewatch.NAME with \`systemctl edit tracewatch\`.

Exit codes: 0 written, 1 it could not be written, 2 wrong usage.`,
	options: {},
	positionals: [2, 2],
	async run({ positionals: [act, name = ''] }, io) {
		if (act !== 'set') throw new UsageError(`there is \`secret set NAME\`, not \`secret ${act}\``)
		if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
			throw new UsageError(`a name has letters, digits and underscores only: ETHEREUM_RPC_URL`)
		}
		const value = await askSecret(name, io)
		if (value === '') throw new PlainError('nothing was given, and nothing is written')
		io.scrubber.add([value])
		const path = credentialPath(name, io.env)
		await writeWhole({ path, text: `${value}\n`, mode: 0o600, folderMode: 0o700 })
		io.out(`written to ${path}; \${${name}} in tracewatch.yaml stands for it. A service that runs needs a restart.`)
		return exitCodes.done
	},
}

/** One line, from a terminal without showing it. Rejects when the signal aborts. */
async function askSecret(name: string, io: Io): Promise<string> {
	if (process.stdin.isTTY === true) {
		const asker = createAsker(io)
		try {
			return await asker.askHidden(`${name}, which is not shown; then Enter: `)
		} finally {
			asker.close()
		}
	}
	const { signal } = io
	const lines = createInterface({ input: process.stdin })
	const abort = () => lines.close()
	signal.addEventListener('abort', abort, { once: true })
	try {
		for await (const line of lines) return line.trim()
		signal.throwIfAborted()
		return ''
	} finally {
		signal.removeEventListener('abort', abort)
		lines.close()
	}
}
