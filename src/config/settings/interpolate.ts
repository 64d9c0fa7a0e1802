import { statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/systemError.js'
import { readWholeSync } from '../yaml/openFile.js'
import { reason } from '../yaml/sourceFile.js'

/** A larger file is not taken for a secret. */
const mostSecretBytes = 64 * 2 ** 10

/** The values that replaced `${NAME}` in one scalar of the settings. */
export interface Filled {
	readonly path: readonly PropertyKey[]
	/** As written, with `${NAME}`. */
	readonly template: string
	/**
	 * The values that replaced variables. When the scalar is more than a single variable, the whole filled scalar too.
	 */
	readonly values: readonly string[]
}

export interface Interpolation {
	/** The same data with every `${NAME}` replaced. Values are never parsed as YAML. */
	readonly value: unknown
	readonly filled: readonly Filled[]
	readonly problems: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
	/** Secrets in files that others can read. */
	readonly warnings: Interpolation['problems']
}

/**
 * Replaces `${NAME}` in every scalar. Sources in order: the environment variable NAME; the file that NAME_FILE names;
 * the systemd credential NAME, or `tracewatch_NAME` where a folder was loaded (systemd.exec, `$CREDENTIALS_DIRECTORY`);
 * `secrets/NAME` in `folder`, the one of the settings. One newline at the end of a file is cut. `$${` is a plain `${`.
 * A value that is not found or empty is a problem; its scalar keeps the text as written.
 */
export function interpolate(value: unknown, env: NodeJS.ProcessEnv, folder: string): Interpolation {
	const filled: Filled[] = []
	const problems: { path: readonly PropertyKey[]; message: string }[] = []
	const warnings: { path: readonly PropertyKey[]; message: string }[] = []

	const fill = (text: string, path: readonly PropertyKey[]): string => {
		if (!text.includes('${')) return text
		const values: string[] = []
		const result = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (whole, name: string | undefined, end: string) => {
			if (name === undefined) return '${'
			const found =
				end === ''
					? { message: `a \${ is not closed; write \${NAME}, or $\${ for a plain \${` }
					: lookUp(name, env, folder)
			if ('message' in found) {
				problems.push({ path, message: found.message })
				return whole
			}
			if (found.warning !== undefined) warnings.push({ path, message: found.warning })
			values.push(found.value)
			return found.value
		})
		if (values.length > 0)
			filled.push({
				path,
				template: text,
				values: values.length === 1 && values[0] === result ? values : [...values, result],
			})
		return result
	}

	const walk = (node: unknown, path: readonly PropertyKey[]): unknown => {
		if (typeof node === 'string') return fill(node, path)
		if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]))
		if (node === null || typeof node !== 'object') return node
		return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])]))
	}

	return { value: walk(value, []), filled, problems, warnings }
}

type Found = { readonly value: string; readonly warning?: string } | { readonly message: string }

function lookUp(name: string, env: NodeJS.ProcessEnv, folder: string): Found {
	if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
		// Cut, because a default may be the secret; without backticks, in which `hideSecrets` writes the whole scalar.
		const shown = /^\w{0,64}/.exec(name)?.[0] ?? ''
		return {
			message:
				`\${${shown}${shown === name ? '' : '…'}} is not understood; a name has letters, digits and underscores ` +
				'only, and no default; $${ writes a plain ${',
		}
	}
	const direct = env[name]
	if (direct !== undefined) {
		return direct === '' ? { message: `the environment variable ${name} is set, but empty` } : { value: direct }
	}
	const file = env[`${name}_FILE`]
	if (file !== undefined && file !== '') {
		// The path only of a file that was read: the variable may hold the secret itself.
		const what = `the file that ${name}_FILE names`
		return withWarning(contentOf(file, what), file, `${what} (${file})`)
	}
	const credentials = env.CREDENTIALS_DIRECTORY ?? ''
	for (const id of credentials === '' ? [] : [name, `tracewatch_${name}`]) {
		const found = contentOf(join(credentials, id), `the systemd credential ${id}`)
		if (!('code' in found && found.code === 'ENOENT')) return found
	}
	const own = join(folder, 'secrets', name)
	const found = contentOf(own, `the secret ${own}`)
	// The service gets copies of these files, and may not read the folder itself.
	const isService = env.INVOCATION_ID !== undefined && credentials !== ''
	if ('code' in found && (found.code === 'ENOENT' || (found.code === 'EACCES' && isService))) {
		const otherwise = isService
			? 'and restart the service'
			: `or set the environment variable ${name}, or ${name}_FILE to the path of a file that holds it`
		return { message: `\${${name}} is not set: write it to ${own} (mode 0600), ${otherwise}` }
	}
	return withWarning(found, own, `the secret ${own}`)
}

function withWarning(found: Found, path: string, what: string): Found {
	if ('message' in found || ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) === 0) return found
	return { ...found, warning: `${what} can be read by every user of this machine: \`chmod 600 ${path}\`` }
}

function contentOf(path: string, what: string): Found | { readonly message: string; readonly code: string | null } {
	try {
		const value = new TextDecoder().decode(readWholeSync(path, mostSecretBytes)).replace(/\r?\n$/, '')
		return value.trim() === '' ? { message: `${what} is empty` } : { value }
	} catch (error) {
		return { message: `${what} cannot be read: ${reason(error)}`, code: codeOf(error) }
	}
}
