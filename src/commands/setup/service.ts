import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { PlainError } from '../../errors.js'
import { type WholeFile, writeAll } from './writeWhole.js'

const call = promisify(execFile)
const unit = 'tracewatch.service'

/** Whether the machine was booted by systemd (sd_booted(3)). */
export function isSystemdHere(): boolean {
	return existsSync('/run/systemd/system')
}

/** The credentials that the shipped units load. */
const shipped = new Set(['ETHEREUM_RPC_URL', 'RPC_URL', 'SMTP_URL', 'OPS_HOOK_URL', 'OPS_HOOK_SECRET'])

/**
 * Drop-in files that make the units load a credential which the shipped units do not load; purging the package removes
 * them. `isInstance`: write one drop-in for the template unit, which serves all instances on the machine.
 */
function handedOver(name: string, isInstance = false): readonly WholeFile[] {
	if (shipped.has(name)) return []
	const why = '# Written by `tracewatch setup` or `tracewatch secret set`: one more secret of the service.'
	const source = isInstance ? 'tracewatch.%i' : 'tracewatch'
	const text = `${why}\n[Service]\nLoadCredential=${name}:${source}.${name}\n`
	const units = isInstance ? ['tracewatch@.service'] : ['tracewatch.service', 'tracewatch-once.service']
	return units.map((each) => {
		const path = `/etc/systemd/system/${each}.d/tracewatch-credential-${name}.conf`
		return { path, text, mode: 0o644, folderMode: 0o755 }
	})
}

/**
 * Makes the unit load a credential, if the unit is installed and does not load it yet. Returns the files that were
 * written. Throws PlainError.
 */
export async function handOver(name: string, unitName: string): Promise<readonly string[]> {
	const { stdout: lines } = await call('systemctl', ['cat', unitName]).catch(() => ({ stdout: '' }))
	if (lines === '' || new RegExp(`^(?:Load|Set)Credential(?:Encrypted)?=${name}:`, 'm').test(lines)) return []
	const files = handedOver(name, unitName.includes('@'))
	await writeAll(files)
	await call('systemctl', ['daemon-reload'])
	return files.map(({ path }) => path)
}

/** Throws PlainError when the unit is not installed. */
export async function needUnit(): Promise<void> {
	const known = await call('systemctl', ['cat', unit]).catch(() => null)
	if (known !== null) return
	throw new PlainError(
		`the unit ${unit} is not installed: install the Debian package, or copy systemd/*.service of the program to ` +
			'/etc/systemd/system and run `systemctl daemon-reload`; --no-start writes the files alone',
	)
}

/**
 * Enables and starts the service; restarts it when it runs, since secrets are read at the start. Resolves when the
 * service reports that it is ready. Throws PlainError with the last lines of its log.
 */
export async function startService(): Promise<void> {
	try {
		await call('systemctl', ['daemon-reload'])
		await call('systemctl', ['enable', unit])
		await call('systemctl', ['restart', unit])
	} catch {
		const { stdout } = await call('journalctl', ['-u', unit, '-n', '15', '-o', 'cat', '--no-pager']).catch(() => ({
			stdout: '',
		}))
		throw new PlainError(`the files are written, but the service does not start; the end of its log:\n${stdout.trim()}`)
	}
}
