import { join } from 'node:path'
import { quoted } from '../../base/quoted.js'
import { readWholeSync } from '../openFile.js'
import { reason } from '../source.js'

/** More than this is no secret. */
const mostSecretBytes = 64 * 2 ** 10

/** What stands for `${NAME}` in one scalar of the settings. */
export interface Filled {
	readonly path: readonly PropertyKey[]
	/** As written, with `${NAME}`. */
	readonly template: string
	/** What came in its place; whole scalars and parts alike. */
	readonly values: readonly string[]
}

export interface Interpolation {
	/** The same data with every `${NAME}` replaced; values are data and are never read as YAML. */
	readonly value: unknown
	readonly filled: readonly Filled[]
	readonly problems: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
}

/**
 * Replaces `${NAME}` in every scalar: by the environment variable NAME, else the content of the file that NAME_FILE
 * names (less one newline at its end), else the systemd credential NAME (systemd.exec, `$CREDENTIALS_DIRECTORY`), else
 * what the unit would be handed under that name: `tracewatch.NAME` in the credential store, which only root can read.
 * `$${` is a plain `${`. What is not found, or is empty, is a problem; its scalar keeps the text as written.
 */
export function interpolate(value: unknown, env: NodeJS.ProcessEnv): Interpolation {
	const filled: Filled[] = []
	const problems: { path: readonly PropertyKey[]; message: string }[] = []

	const fill = (text: string, path: readonly PropertyKey[]): string => {
		if (!text.includes('${')) return text
		const values: string[] = []
		const result = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (whole, name: string | undefined, end: string) => {
			if (name === undefined) return '${'
			const found =
				end === '' ? { message: `a \`\${\` is not closed; write \${NAME}, or $\${ for a plain \${` } : lookUp(name, env)
			if ('message' in found) {
				problems.push({ path, message: found.message })
				return whole
			}
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

	return { value: walk(value, []), filled, problems }
}

function lookUp(name: string, env: NodeJS.ProcessEnv): { readonly value: string } | { readonly message: string } {
	if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
		return {
			message:
				`${quoted(`\${${name}}`)} is not understood; a name has letters, digits and underscores only, ` +
				'and $${ writes a plain ${',
		}
	}
	const direct = env[name]
	if (direct !== undefined) {
		return direct === '' ? { message: `the environment variable ${name} is set, but empty` } : { value: direct }
	}
	const file = env[`${name}_FILE`]
	if (file !== undefined && file !== '') return contentOf(file, `the file that ${name}_FILE names (${file})`)
	const folder = env.CREDENTIALS_DIRECTORY
	if (folder !== undefined && folder !== '') {
		const found = contentOf(join(folder, name), `the systemd credential ${name}`)
		if (!('missing' in found)) return found
	}
	// A command run by root beside the service finds what the service has.
	const stored = contentOf(credentialPath(name, env), `the credential tracewatch.${name}`)
	if ('value' in stored) return stored
	const missing =
		`\${${name}} is not set: set the environment variable ${name}, ` +
		`or ${name}_FILE to the path of a file that holds it`
	if (env.INVOCATION_ID === undefined)
		return { message: `${missing}; for the service, \`sudo tracewatch secret set ${name}\`` }
	return {
		message:
			`\${${name}} is not set: \`sudo tracewatch secret set ${name}\` writes it, ` +
			`and the unit needs a line LoadCredential=${name}:tracewatch.${name} (\`systemctl edit\`) unless it has one`,
	}
}

/** Where the units shipped with this program take their credentials from. */
export function credentialPath(name: string, env: NodeJS.ProcessEnv): string {
	return join(env.TRACEWATCH_CREDSTORE ?? '/etc/credstore', `tracewatch.${name}`)
}

function contentOf(
	path: string,
	what: string,
): { readonly value: string } | { readonly message: string; readonly missing?: true } {
	try {
		const value = new TextDecoder().decode(readWholeSync(path, mostSecretBytes)).replace(/\r?\n$/, '')
		return value === '' ? { message: `${what} is empty` } : { value }
	} catch (error) {
		const message = `${what} cannot be read: ${reason(error)}`
		return error instanceof Error && 'code' in error && error.code === 'ENOENT'
			? { message, missing: true }
			: { message }
	}
}
