import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { printable } from '../../base/text/printable.js'
import { loadConfig } from '../../config/load.js'
import { shown } from '../../config/yaml/sourceFile.js'
import { ConfigError, PlainError, UsageError } from '../../errors.js'
import { type Command, exitCodes, type Io } from '../command.js'
import { type WholeFile, writeAll } from '../setup/writeWhole.js'
import { type Converted, convertOz, type Finding } from './ozConvert.js'
import { readOz } from './ozFiles.js'

export const importFrom: Command = {
	name: 'import',
	summary: 'turns the configuration of OpenZeppelin Monitor or Defender into one of tracewatch',
	help: `Usage: tracewatch import oz FOLDER [--out DIR]

Reads every JSON file below FOLDER: networks, monitors and triggers of OpenZeppelin Monitor, and monitors and
notifications of Defender (its API, its SDK, and its download for OpenZeppelin Monitor). Writes tracewatch.yaml and a
watchlist for each monitor and network into DIR, and says of each condition whether it is covered:

  covered      each match is an alert
  more comes   each match is an alert, and so are events that the condition would have left out
  not covered  it is not reported, with the reason

A secret that stands in the files goes into DIR/secrets, one file each, for its owner alone. One that an
environment variable or a vault holds keeps its name, and is listed as to be set. Nothing is overwritten, and FOLDER
does not change.

  --out DIR  where the configuration goes (default: tracewatch-import)

Exit codes: 0 done, also where conditions are not covered; 1 nothing can be converted, or DIR holds a configuration.`,
	options: { out: { type: 'string' } },
	positionals: [2, 2],
	async run({ values, positionals: [from, folder = ''] }, io) {
		if (from !== 'oz') throw new UsageError(`\`import\` takes oz, not \`${from}\``)
		const out = resolve(io.cwd, typeof values.out === 'string' ? values.out : 'tracewatch-import')
		if (existsSync(join(out, 'tracewatch.yaml')))
			throw new PlainError(`${shown(out, io.cwd)} holds a tracewatch.yaml already; --out names another folder`)
		const converted = convertOz(await readOz(resolve(io.cwd, folder)))
		io.scrubber.add([...converted.secrets.values()])
		for (const line of reportOf(converted.findings)) io.out(line)
		if (converted.watchlists.length === 0)
			throw new PlainError('no condition of these monitors can be converted; nothing was written')
		if (converted.receivers.length === 0)
			throw new PlainError('no trigger can be converted, so no one would be notified; nothing was written')
		const files = filesOf(converted, out)
		const there = files.find(({ path }) => existsSync(path))
		if (there !== undefined)
			throw new PlainError(`${shown(there.path, io.cwd)} is there already; --out names another folder`)
		await writeAll(files)
		await mustCheck(converted, out, io)
		const watches = converted.watchlists.reduce((sum, list) => sum + list.watches.length, 0)
		io.out('')
		io.out(`wrote ${shown(out, io.cwd) || '.'}: ${converted.watchlists.length} watchlists with ${watches} watches`)
		for (const [name, { source }] of converted.needed) io.out(`to be set: ${name} (${printable(source)})`)
		const env = converted.secrets.size === 0 ? '' : `CREDENTIALS_DIRECTORY=${shown(join(out, 'secrets'), io.cwd)} `
		io.out(`Next: ${env}tracewatch check -c ${shown(join(out, 'tracewatch.yaml'), io.cwd)}`)
		return exitCodes.done
	},
}

const longestPart = 300

function* reportOf(findings: readonly Finding[]): Generator<string> {
	const words = { yes: 'covered', more: 'more comes', no: 'not covered' } as const
	// Names and expressions are those of the files: a line break in one must not make a line of its own.
	for (const { of, covered, words: why } of findings)
		yield `${words[covered].padEnd(11)}  ${printable(of, longestPart)}: ${printable(why, longestPart)}`
	const count = (covered: Finding['covered']) => findings.filter((one) => one.covered === covered).length
	yield ''
	yield `${count('yes')} covered, ${count('more')} with more than asked for, ${count('no')} not covered`
}

function filesOf({ networks, receivers, watchlists, secrets, findings }: Converted, out: string): readonly WholeFile[] {
	const open = { mode: 0o644, folderMode: 0o755 }
	const head = '# Made by `tracewatch import oz`. What each key means: docs/configuration.md.\n'
	const settings = { networks, receivers, watchlists: 'watchlists', state: 'state' }
	return [
		...[...secrets].map(([name, value]) => {
			return { path: join(out, 'secrets', name), text: `${value}\n`, mode: 0o600, folderMode: 0o700 }
		}),
		...watchlists.map(({ name, ...list }) => {
			return { path: join(out, 'watchlists', `${name}.yaml`), text: `${head}${yamlOf(list)}`, ...open }
		}),
		{ path: join(out, 'import-report.txt'), text: `${[...reportOf(findings)].join('\n')}\n`, ...open },
		{ path: join(out, 'tracewatch.yaml'), text: `${head}${yamlOf(settings)}`, ...open },
	]
}

function yamlOf(value: unknown): string {
	return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** What was written is right, once the secrets are set. */
async function mustCheck({ needed }: Converted, out: string, io: Io): Promise<void> {
	const standIns = [...needed].map(([name, { standIn }]) => [name, standIn] as const)
	const env = { ...Object.fromEntries(standIns), ...io.env, CREDENTIALS_DIRECTORY: join(out, 'secrets') }
	try {
		await loadConfig(join(out, 'tracewatch.yaml'), { env, cwd: io.cwd })
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		io.err('The files are written, but some of what they were made from must be corrected there:')
		throw error
	}
}
