import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { starterFiles, starterVariables } from '../../config/starter.js'
import { shown } from '../../config/yaml/sourceFile.js'
import { PlainError } from '../../errors.js'
import { type Command, exitCodes } from '../command.js'
import { calledAs } from '../shared/calledAs.js'

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
			// `wx`: a file that was created meanwhile is not overwritten.
			await writeFile(path, content, { flag: 'wx' })
			io.out(`wrote ${shown(path, io.cwd)}`)
		}
		const config = shown(join(folder, 'tracewatch.yaml'), io.cwd)
		io.out('')
		const [example, file] = ['.env.example', '.env'].map((name) => shown(join(folder, name), io.cwd))
		const option = config === 'tracewatch.yaml' ? '' : ` -c ${config}`
		const program = calledAs(io.env)
		io.out(`1. Copy ${example} to ${file} and fill in ${starterVariables.join(', ')}.`)
		io.out(`2. Load it: set -a; . ./${file}; set +a`)
		io.out(`3. Write your addresses into ${shown(join(folder, 'watchlists/example.yaml'), io.cwd)}.`)
		io.out(`4. ${program} check${option}`)
		io.out(`5. ${program} run${option}`)
		return exitCodes.done
	},
}
