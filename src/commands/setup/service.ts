import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { PlainError } from '../../errors.js'

const call = promisify(execFile)
const unit = 'tracewatch.service'

/** Whether the machine was booted by systemd (sd_booted(3)). */
export function isSystemdHere(): boolean {
	return existsSync('/run/systemd/system')
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
