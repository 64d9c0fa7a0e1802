import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AbiFunction, AbiInput, KnownFunctions } from '../../model/abi.js'
import { readFunction } from '../abiFunction.js'
import { readFileWhole } from '../yaml/openFile.js'
import { reason, shown } from '../yaml/sourceFile.js'

const mostBytes = 16 * 2 ** 20

/**
 * The functions of all `*.json` in a folder: lists of the JSON ABI, or objects with such a list under `abi`, as Foundry
 * and Hardhat write them. If two files describe the same selector, the first by name counts. Problems are returned.
 */
export async function readAbi(
	folder: string,
	cwd: string,
): Promise<{ readonly functions: KnownFunctions; readonly problems: readonly string[] }> {
	const functions = new Map<string, AbiFunction>()
	const problems: string[] = []
	let names: readonly string[] = []
	try {
		names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
	} catch (error) {
		problems.push(`the folder ${shown(folder, cwd)} cannot be read: ${reason(error)}`)
	}
	for (const name of names) {
		const path = join(folder, name)
		try {
			for (const [selector, found] of functionsIn(await readFileWhole(path, mostBytes)))
				if (!functions.has(selector)) functions.set(selector, found)
		} catch (error) {
			problems.push(`the file ${shown(path, cwd)} cannot be read: ${reason(error)}`)
		}
	}
	return { functions, problems }
}

/** Throws RangeError. */
function* functionsIn(bytes: Uint8Array): Generator<readonly [selector: string, found: AbiFunction]> {
	let content: unknown
	try {
		content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
	} catch {
		throw new RangeError('it is not JSON in UTF-8')
	}
	const list = Array.isArray(content) ? content : (content as { readonly abi?: unknown } | null)?.abi
	if (!Array.isArray(list)) throw new RangeError('it has no list of functions')
	for (const entry of list as readonly unknown[]) {
		const { type, name, inputs } = (entry ?? {}) as Readonly<Record<string, unknown>>
		if (type !== 'function') continue
		if (typeof name !== 'string') throw new RangeError('a function in it has no name')
		const form = `function ${name}(${inputsInWords(inputs)})`
		const { selector, signature } = readFunction(form)
		yield [selector, { name, signature, inputs: namedInputs(inputs) }]
	}
}

/** `address,(uint256,bytes)[]`. Throws RangeError. */
function inputsInWords(inputs: unknown): string {
	return listOf(inputs)
		.map(({ type, components }) =>
			type.startsWith('tuple') ? `(${inputsInWords(components)})${type.slice('tuple'.length)}` : type,
		)
		.join(',')
}

function namedInputs(inputs: unknown): readonly AbiInput[] {
	return listOf(inputs).map(({ name, type, components }) => ({
		...(typeof name === 'string' && name !== '' && { name }),
		type,
		...(components !== undefined && { components: namedInputs(components) }),
	}))
}

function listOf(inputs: unknown): readonly { name: unknown; type: string; components: unknown }[] {
	if (!Array.isArray(inputs)) throw new RangeError('a function in it has no list of inputs')
	return (inputs as readonly unknown[]).map((input) => {
		const { name, type, components } = (input ?? {}) as Readonly<Record<string, unknown>>
		if (typeof type !== 'string') throw new RangeError('an input of a function in it has no type')
		return { name, type, components }
	})
}
