// Bundles src into dist; `npm run types` checks its types. It is also npm's `prepare` step, so that a fresh `npm ci`
// leaves a runnable program. With `--if-changed` only when something is not as it was when dist was made.
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const rolldown = await import('rolldown').catch(() => null)
if (rolldown === null) {
	// `npm ci --omit=dev` leaves the bundler out: what was built before stays as it is.
	const built = existsSync(`${root}dist/cli.js`)
	console.error(
		built
			? 'tracewatch: the bundler is not installed; dist is kept as it is'
			: 'tracewatch: nothing is built and the bundler is not installed; run `npm ci` without --omit=dev first',
	)
	process.exit(0)
}
const stamp = `${root}node_modules/.cache/tracewatch/built`
if (process.argv.includes('--if-changed') && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest())
	process.exit(0)
rmSync(stamp, { force: true })
rmSync(`${root}dist`, { recursive: true, force: true })
// A few files instead of six hundred: a start takes half as long. Packages stay outside, with one exception: plain
// modules in dozens of files (zod loads each of its languages). The parts in use are built in, which saves a third of a
// start. They stay dependencies: the lockfile, `npm audit` and THIRD-PARTY.md name them.
await rolldown.build({
	input: `${root}src/cli.ts`,
	external: /^(?!@oxc-project|zod$|zod\/|ox\/|@noble\/|@scure\/|yaml$|commander$|csv-parse)[a-z@]/,
	platform: 'node',
	transform: { target: 'node20' },
	// A test gives constants other values (test/support/smallFigures.mjs).
	optimization: { inlineConst: false },
	output: { dir: `${root}dist`, chunkFileNames: '[name].js' },
	logLevel: 'warn',
})
chmodSync(`${root}dist/cli.js`, 0o755)
mkdirSync(dirname(stamp), { recursive: true })
writeFileSync(stamp, digest())

/** Of what is compiled, what compiles it, and what came of it. */
function digest() {
	const hash = createHash('sha256')
	const own = ['package.json', 'package-lock.json', 'scripts/build.js']
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
