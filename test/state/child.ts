/** Real processes that run pieces of this room: compiled once, then spoken to line by line. */

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/folder.js'
import { atEndOfFile } from '../support/leftovers.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const children = new Set<ChildProcessWithoutNullStreams>()
let compiled: string | null = null

export function stopChildren(): void {
	for (const child of children) child.kill('SIGKILL')
	children.clear()
}

/** Starts `children/<name>.ts`. */
export function startChild(name: string, ...args: string[]) {
	return startChildBy([], name, ...args)
}

/** The same, by a program that starts another, such as `unshare --net`. */
export function startChildBy(by: readonly string[], name: string, ...args: string[]) {
	if (compiled === null) {
		compiled = compile()
		atEndOfFile(() => {
			stopChildren()
			compiled = null
		})
	}
	const script = join(compiled, 'test/state/children', name.replace(/\.ts$/, '.js'))
	const [program = '', ...rest] = [...by, process.execPath, script, ...args]
	const child = spawn(program, rest)
	children.add(child)
	const ended = once(child, 'exit')
	child.stderr.on('data', (text) => process.stderr.write(text))
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
	const line = async () => ((await lines.next()) as { value: string | undefined }).value
	return {
		pid: child.pid as number,
		/** Its next line; undefined when it is dead and has no more. */
		line,
		ask: async (question: string) => {
			child.stdin.write(`${question}\n`)
			return await line()
		},
		/** Tells it something without waiting for a line. */
		write: (text: string) => child.stdin.write(`${text}\n`),
		signal: (signal: NodeJS.Signals) => child.kill(signal),
		kill: async (signal: NodeJS.Signals) => {
			child.kill(signal)
			await ended
			children.delete(child)
		},
		/** Resolves when the kernel says that it stands still. */
		pause: async () => {
			child.kill('SIGSTOP')
			while (!/\) [tT] /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))) await new Promise(setImmediate)
		},
	}
}

function compile(): string {
	const folder = temporaryFolder()
	const scripts = ['holder', 'asker', 'instance', 'opener', 'copier'].map((name) =>
		join(root, 'test/state/children', `${name}.ts`),
	)
	const tsc = join(root, 'node_modules/typescript/bin/tsc')
	const options = [
		'--outDir',
		folder,
		'--rootDir',
		root,
		'--target',
		'es2023',
		'--module',
		'nodenext',
		'--types',
		'node',
	]
	const { status, stdout } = spawnSync(process.execPath, [tsc, '--ignoreConfig', '--noCheck', ...options, ...scripts], {
		cwd: root,
		encoding: 'utf8',
	})
	if (status !== 0) throw new Error(`cannot compile the children: ${stdout}`)
	writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
	symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
	return folder
}
