import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { shown } from '../config/source.js'
import { starterFiles, starterVariables } from '../config/starter.js'
import { PlainError } from '../errors.js'
import { type Command, exitCodes } from './command.js'

export const init: Command = {
	name: 'init',
	summary: 'writes a commented starter configuration and a watchlist',
	help: `Usage: tracewatch init [FOLDER]

Writes a commented tracewatch.yaml, watchlists/example.yaml, .env.example with the variables to set, and JSON Schemas
for your editor into FOLDER (default: the current one), and says what to do next. Nothing is ever overwritten.

Ends with 1, naming the file and writing nothing, when one of them is there already.`,
	options: {},
	positionals: [0, 1],
	async run({ positionals }, io) {
		const folder = resolve(io.cwd, positionals[0] ?? '.')
		const files = starterFiles().map(({ path, content }) => ({ path: join(folder, path), content }))
		const taken = files.find(({ path }) => existsSync(path))
		if (taken !== undefined) throw new PlainError(`${shown(taken.path, io.cwd)} is there already; nothing was written`)
		for (const { path, content } of files) {
			await mkdir(dirname(path), { recursive: true })
			// Not to overwrite holds also for a file that came in between.
			await writeFile(path, content, { flag: 'wx' })
			io.out(`wrote ${shown(path, io.cwd)}`)
		}
		const config = shown(join(folder, 'tracewatch.yaml'), io.cwd)
		io.out('')
		io.out(`Set ${starterVariables.join(', ')} (see ${shown(join(folder, '.env.example'), io.cwd)}),`)
		io.out('write your addresses into the watchlist, then:')
		const option = config === 'tracewatch.yaml' ? '' : ` -c ${config}`
		io.out(`  tracewatch check${option}`)
		io.out(`  tracewatch run${option}`)
		return exitCodes.done
	},
}
