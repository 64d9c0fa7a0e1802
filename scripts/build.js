// Compiles src to dist. It is also npm's `prepare` step, so that a fresh `npm ci` leaves a runnable program. With
// `--if-changed` only when something is not as it was when dist was made: the tests come soon after that.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
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
const stamp = `${root}node_modules/.cache/tracewatch/built`
if (process.argv.includes('--if-changed') && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest())
	process.exit(0)
rmSync(stamp, { force: true })
rmSync(`${root}dist`, { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [tsc, '-p', `${root}tsconfig.build.json`], { stdio: 'inherit' })
if (status === 0) {
	chmodSync(`${root}dist/cli.js`, 0o755)
	mkdirSync(dirname(stamp), { recursive: true })
	writeFileSync(stamp, digest())
}
process.exit(status ?? 1)

/** Of what is compiled, what compiles it, and what came of it. */
function digest() {
	const hash = createHash('sha256')
	const own = ['package.json', 'tsconfig.json', 'tsconfig.build.json']
	for (const name of [...own, ...filesOf('src'), ...filesOf('dist')]) {
		hash
			.update(`${name}\0`)
			.update(readFileSync(`${root}${name}`))
			.update('\0')
	}
	return hash.digest('hex')
}

function filesOf(folder) {
	if (!existsSync(`${root}${folder}`)) return []
	const entries = readdirSync(`${root}${folder}`, { recursive: true, withFileTypes: true })
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => `${entry.parentPath.slice(root.length)}/${entry.name}`)
		.sort()
}
