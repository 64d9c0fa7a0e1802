import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { PlainError } from '../../errors.js'
import { type WholeFile, writeAll } from '../writeWhole.js'

const call = promisify(execFile)
const unit = 'tracewatch.service'

/** Whether the machine was booted by systemd (sd_booted(3)). */
export function isSystemdHere(): boolean {
	return existsSync('/run/systemd/system')
}

/** The credentials that the units shipped load. */
const shipped = new Set(['ETHEREUM_RPC_URL', 'RPC_URL', 'SMTP_URL', 'OPS_HOOK_URL', 'OPS_HOOK_SECRET'])

/**
 * Has the units load a credential that they do not know; a purge of the package takes these files away. `isInstance`:
 * the units of several watchers on one machine, for all of which one line stands.
 */
export function handedOver(name: string, isInstance = false): readonly WholeFile[] {
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
 * Has the unit load a credential, where it is installed and does not yet by any line of its own. Returns what was
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

/** Throws PlainError where the unit is not installed. */
export async function needUnit(): Promise<void> {
	const known = await call('systemctl', ['cat', unit]).catch(() => null)
	if (known !== null) return
	throw new PlainError(
		`the unit ${unit} is not installed: install the Debian package, or copy systemd/*.service of the program to ` +
			'/etc/systemd/system and run `systemctl daemon-reload`; --no-start writes the files alone',
	)
}

/**
 * Starts the service now and at each boot; one that runs is started anew, since secrets are read at the start. Returns
 * when the program has said that it is ready. Throws PlainError with the last lines of its log.
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

/** With the service stopped, where `rests`; the caller starts it. When `act` fails it runs again as before. */
export async function whileResting(rests: boolean, act: () => Promise<void>): Promise<void> {
	if (!rests) return await act()
	await call('systemctl', ['stop', unit])
	try {
		await act()
	} catch (error) {
		await call('systemctl', ['start', unit]).catch(() => undefined)
		throw error
	}
}
