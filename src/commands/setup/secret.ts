import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { credentialPath, unitOf } from '../../config/settings/credentials.js'
import { PlainError, UsageError } from '../../errors.js'
import { type Command, configOption, exitCodes, type Io } from '../command.js'
import { createAsker } from './askPerson.js'
import { handOver, isSystemdHere } from './service.js'
import { writeWhole } from './writeWhole.js'

export const secret: Command = {
	name: 'secret',
	summary: 'writes a secret where the service finds it; asks without showing it',
	help: `Usage: tracewatch secret set NAME [-c FILE]

Asks for a secret without echo (or reads one line from a pipe) and writes it to /etc/credstore/tracewatch.NAME, for root
alone. systemd hands it to the service, and \${NAME} in tracewatch.yaml stands for it; a service that runs needs a
restart. The units shipped load ETHEREUM_RPC_URL, RPC_URL, SMTP_URL, OPS_HOOK_URL and OPS_HOOK_SECRET; for another name
they get a line LoadCredential=NAME:tracewatch.NAME in a file of its own beside them.

  -c, --config FILE   of tracewatch@INSTANCE: /etc/tracewatch/INSTANCE/tracewatch.yaml, whose secrets are its own

Exit codes: 0 written, 1 it could not be written, 2 wrong usage.`,
	options: configOption,
	positionals: [2, 2],
	async run({ values, positionals: [act, name = ''] }, io) {
		if (act !== 'set') throw new UsageError(`there is \`secret set NAME\`, not \`secret ${act}\``)
		if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
			throw new UsageError(`a name has letters, digits and underscores only: ETHEREUM_RPC_URL`)
		}
		const settings = typeof values.config === 'string' ? resolve(io.cwd, values.config) : ''
		const path = credentialPath(name, io.env, settings)
		await needWritable(dirname(path), path)
		const value = await askSecret(name, io)
		if (value === '') throw new PlainError('nothing was given, and nothing is written')
		io.scrubber.add([value])
		await writeWhole({ path, text: `${value}\n`, mode: 0o600, folderMode: 0o700 })
		io.out(`written to ${path}; \${${name}} in tracewatch.yaml stands for it. A service that runs needs a restart.`)
		// systemd does not know a store that the user has set.
		const isStoreOfUnits = io.env.TRACEWATCH_CREDSTORE === undefined && isSystemdHere()
		for (const added of isStoreOfUnits ? await handOver(name, unitOf(settings)) : [])
			io.out(`${added} has the service load it`)
		return exitCodes.done
	},
}

/** Called before asking, so that the user does not type a secret that cannot be saved. Throws PlainError. */
async function needWritable(folder: string, path: string): Promise<void> {
	const refusal = await access(folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => error.code)
	if (refusal === 'EACCES') throw new PlainError(`${path} cannot be written: this needs root: run it with sudo`)
	if (refusal === 'ENOENT' && folder !== dirname(folder)) await needWritable(dirname(folder), path)
}

/** Reads one line; a terminal does not show it. Rejects when the signal aborts. */
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
