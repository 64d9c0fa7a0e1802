// The documents name commands and options; the program has them.
import { Command as Declaration } from 'commander'
import { describe, expect, test } from 'vitest'
import { exitCodes } from '../../src/commands/command.js'
import { commands } from '../../src/commands/commandLine.js'
import { codeOf, read, spansOf, tableOf } from './markdown.js'

/** Of each command its options, as its `--help` lists them. */
const optionsOf = new Map(
	await Promise.all(
		Object.entries(commands).map(async ([name, load]) => {
			const { options } = (await load()).declare(new Declaration(name))
			return [name, ['--help', ...options.map(({ long }) => long)]] as const
		}),
	),
)
const documents = [
	'README.md',
	'docs/install.md',
	'docs/operations.md',
	'docs/delivery.md',
	'docs/nodes.md',
	'docs/configuration.md',
	'SECURITY.md',
	'CONTRIBUTING.md',
]

/** `tracewatch check -c FILE`, wherever it stands in code; not `systemctl status tracewatch`. */
function callsIn(text: string): readonly { readonly name: string; readonly rest: string }[] {
	return codeOf(text).flatMap((piece) =>
		[...piece.matchAll(/(?<![\w./@-])(?:tracewatch|node dist\/cli\.js) ([a-z][a-z-]*)([^#&;|]*)/g)]
			.filter(({ index }) => !/systemctl|journalctl/.test(piece.slice(0, index)))
			.map(([, name = '', rest = '']) => ({ name, rest })),
	)
}

test('default: README lists every command, and none besides', () => {
	const listed = tableOf(read('README.md'), 'command', 'does').flatMap(([first = '']) => spansOf(first))
	expect([...listed].sort()).toEqual(Object.keys(commands).sort())
})

test('default: README names every exit code', () => {
	const sentence = /^Exit codes: .*(?:\n.+)*/m.exec(read('README.md'))?.[0] ?? ''
	expect([...sentence.matchAll(/\b\d+\b/g)].map(([code]) => Number(code))).toEqual(Object.values(exitCodes))
})

describe.each(documents)('%s', (path) => {
	test('behavior: calls no command and no option that does not exist', () => {
		for (const { name, rest } of callsIn(read(path))) {
			const options = optionsOf.get(name)
			expect(options, `tracewatch ${name}`).toBeDefined()
			for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(options, `tracewatch ${name}${rest}`).toContain(option)
		}
	})
})

test('behavior: a restart of the service follows `check` as root, for no other user has its secrets', () => {
	const lines = documents.flatMap((path) => read(path).split('\n'))
	const both = lines.filter((line) => /tracewatch check\b.*\b(systemctl re|restart)/.test(line))
	expect(both.length).toBeGreaterThan(2)
	for (const line of both) expect(line).toContain('sudo tracewatch check')
})
