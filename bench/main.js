// Compiles the bench together with the program to bench/.built, and runs it there: `npm run bench`,
// `npm run bench -- --quick`. A whole run puts its tables into docs/performance.md; `-- --docs` does only that, of the
// last one.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${here}.built`, { recursive: true, force: true })
mkdirSync(`${here}.built`)
// The program reads its version from the package above it.
copyFileSync(`${root}package.json`, `${here}.built/package.json`)
const compiler = `${root}node_modules/typescript/bin/tsc`
const compiled = spawnSync(process.execPath, [compiler, '-p', `${here}tsconfig.json`], { stdio: 'inherit' })
if (compiled.status !== 0) console.error('bench: the compiler complains; what it made is run all the same')
const isForDocument = process.argv.includes('--docs')
const run = [`${here}.built/bench/${isForDocument ? 'redraw' : 'run'}.js`, ...process.argv.slice(2)]
const { status } = spawnSync(process.execPath, ['--expose-gc', ...run], { stdio: 'inherit' })
process.exit(status ?? 1)
