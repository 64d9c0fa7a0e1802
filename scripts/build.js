// Compiles src to dist. It is also npm's `prepare` step, so that a fresh `npm ci` leaves a runnable program.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = `${root}node_modules/typescript/bin/tsc`

if (!existsSync(tsc)) {
	// `npm ci --omit=dev` leaves the compiler out: what was built before stays as it is.
	const built = existsSync(`${root}dist/cli.js`)
	console.error(
		built
			? 'tracewatch: the compiler is not installed; dist is kept as it is'
			: 'tracewatch: nothing is built and the compiler is not installed; run `npm ci` without --omit=dev first',
	)
	process.exit(0)
}
rmSync(`${root}dist`, { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [tsc, '-p', `${root}tsconfig.build.json`], { stdio: 'inherit' })
if (status === 0) chmodSync(`${root}dist/cli.js`, 0o755)
process.exit(status ?? 1)
