/** Finds the Anvil program. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PlainError } from '../errors.js'

const install = 'npm install --save-dev @foundry-rs/anvil'

/**
 * Finds the program from npm's `@foundry-rs/anvil`. That package's `bin` is a Node script around a package for each
 * platform (`@foundry-rs/anvil-<platform>-<amd64|arm64>`, an optional dependency of it). Starting the program directly
 * saves a process and lets signals reach it.
 *
 * Searches beside this program first, then from the current folder.
 * @throws PlainError when it is not installed, with the command that installs it.
 */
export function findAnvil(from: readonly string[] = [import.meta.url, join(process.cwd(), 'package.json')]): string {
	const arch = process.arch === 'x64' ? 'amd64' : process.arch
	const file = `@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil${process.platform === 'win32' ? '.exe' : ''}`
	for (const place of from) {
		try {
			// The platform's package may be nested in the main one, so it is resolved from there.
			const main = createRequire(place).resolve('@foundry-rs/anvil/package.json')
			return createRequire(main).resolve(file)
		} catch {}
	}
	throw new PlainError(`Anvil, the node that this needs, is not installed. Install it with: ${install}`)
}
