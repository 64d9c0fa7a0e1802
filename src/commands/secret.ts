import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { credentialPath } from '../config/settings/interpolate.js'
import { PlainError, UsageError } from '../errors.js'
import { type Command, exitCodes, type Io } from './command.js'

export const secret: Command = {
	name: 'secret',
	summary: 'writes a secret where the service finds it; asks without showing it',
	help: `Usage: tracewatch secret set NAME

Asks for a secret without echo (or reads one line from a pipe) and writes it to /etc/credstore/tracewatch.NAME, for root
alone. systemd hands it to the service, and \${NAME} in tracewatch.yaml stands for it; a service that runs needs a
restart. The units shipped take ETHEREUM_RPC_URL, SMTP_URL, OPS_HOOK_URL and OPS_HOOK_SECRET; for another name give the
unit a line LoadCredential=NAME:tracewatch.NAME with \`systemctl edit tracewatch\`.

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
		await writeSecret(path, value)
		io.out(`written to ${path}; \${${name}} in tracewatch.yaml stands for it. A service that runs needs a restart.`)
		return exitCodes.done
	},
}

/** One line, from a terminal without showing it. Rejects when the signal aborts. */
async function askSecret(name: string, { err, signal }: Io): Promise<string> {
	const isAsked = process.stdin.isTTY === true
	if (isAsked) err(`${name}, which is not shown; then Enter:`)
	const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
	const lines = createInterface({
		input: process.stdin,
		output: isAsked ? nowhere : undefined,
		terminal: isAsked,
	})
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

/** Whole or not at all, and never readable for others. */
async function writeSecret(path: string, value: string): Promise<void> {
	const fresh = `${path}.${randomBytes(6).toString('hex')}`
	try {
		await mkdir(dirname(path), { recursive: true, mode: 0o700 })
		const file = await open(
			fresh,
			constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
			0o600,
		)
		try {
			await file.writeFile(`${value}\n`)
			await file.sync()
		} finally {
			await file.close()
		}
		await rename(fresh, path)
	} catch (cause) {
		await rm(fresh, { force: true }).catch(() => {})
		const code = cause instanceof Error && 'code' in cause ? cause.code : null
		const hint = code === 'EACCES' || code === 'EPERM' ? 'this needs root: run it with sudo' : String(code ?? cause)
		throw new PlainError(`${path} cannot be written: ${hint}`, { cause })
	}
}
