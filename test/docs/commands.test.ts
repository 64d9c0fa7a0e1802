// The documents name commands and options; the program has them.
import { describe, expect, test } from 'vitest'
import { type Command, exitCodes } from '../../src/commands/command.js'
import { codeOf, read, root, spansOf, tableOf } from './markdown.js'

const door = read('src/main.ts')
const entry = /^\t'?([a-z-]+)'?: async \(\) => \(await import\('\.\/commands\/([\w/]+)\.js'\)\)\.(\w+),$/gm

/** As `tracewatch --help` has them. */
async function load(): Promise<ReadonlyMap<string, Command>> {
	const found = [...door.matchAll(entry)].map(async ([, name = '', file = '', variable = '']) => {
		const module: Readonly<Record<string, Command>> = await import(/* @vite-ignore */ `${root}src/commands/${file}.ts`)
		const command = module[variable]
		if (command === undefined) throw new Error(`commands/${file}.ts has no ${variable}`)
		return [name, command] as const
	})
	return new Map(await Promise.all(found))
}

const commands = await load()
const documents = [
	'README.md',
	'docs/install.md',
	'docs/night.md',
	'docs/operations.md',
	'docs/metrics.md',
	'docs/pages.md',
	'docs/delivery.md',
	'docs/reference.md',
	'SECURITY.md',
	'CONTRIBUTING.md',
]

/** `tracewatch check -c FILE`, wherever it stands in code; not `systemctl status tracewatch`. */
function callsIn(text: string): readonly { readonly name: string; readonly rest: string }[] {
	return codeOf(text).flatMap((piece) =>
		[...piece.matchAll(/(?<![\w./@-])tracewatch ([a-z][a-z-]*)([^#&;|]*)/g)]
			.filter(({ index }) => !/systemctl|journalctl/.test(piece.slice(0, index)))
			.map(([, name = '', rest = '']) => ({ name, rest })),
	)
}

test('default: the program has commands', () => {
	expect(commands.size).toBeGreaterThan(8)
	for (const [name, command] of commands) expect(command.name).toBe(name)
})

test('default: README lists every command, and none besides', () => {
	const listed = tableOf(read('README.md'), 'command', 'does').flatMap(([first = '']) => spansOf(first))
	expect([...listed].sort()).toEqual([...commands.keys()].sort())
})

test('default: README names every exit code', () => {
	const sentence = /^Exit codes: .*(?:\n.+)*/m.exec(read('README.md'))?.[0] ?? ''
	expect([...sentence.matchAll(/\b\d+\b/g)].map(([code]) => Number(code))).toEqual(Object.values(exitCodes))
})

describe.each(documents)('%s', (path) => {
	test('behavior: calls no command and no option that does not exist', () => {
		for (const { name, rest } of callsIn(read(path))) {
			const command = commands.get(name)
			expect(command, `tracewatch ${name}`).toBeDefined()
			const options = ['help', ...Object.keys(command?.options ?? {})]
			for (const [, option] of rest.matchAll(/--([a-z-]+)/g))
				expect(options, `tracewatch ${name}${rest}`).toContain(option)
		}
	})
})

test('behavior: who restarts the service checks as root before: no one else has its secrets', () => {
	const lines = documents.flatMap((path) => read(path).split('\n'))
	const both = lines.filter((line) => /tracewatch check\b.*\b(systemctl re|restart)/.test(line))
	expect(both.length).toBeGreaterThan(2)
	for (const line of both) expect(line).toContain('sudo tracewatch check')
})
