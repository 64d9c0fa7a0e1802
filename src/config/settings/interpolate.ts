import { join } from 'node:path'
import { quoted } from '../../base/text/quoted.js'
import { readWholeSync } from '../yaml/openFile.js'
import { reason } from '../yaml/sourceFile.js'
import { credentialPath, credentialPrefix, handedPath } from './credentials.js'

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
}

/**
 * Replaces `${NAME}` in every scalar. Sources in order: the environment variable NAME; the file that NAME_FILE names
 * (less one newline at its end); the systemd credential NAME (systemd.exec, `$CREDENTIALS_DIRECTORY`);
 * `tracewatch.NAME` in the credential store; the credential that systemd passed to the running service. Only root can
 * read the last two. `$${` is a plain `${`. A value that is not found or empty is a problem; its scalar keeps the text
 * as written. `settingsPath` is the path of the settings file; it determines the unit whose secrets are read.
 */
export function interpolate(value: unknown, env: NodeJS.ProcessEnv, settingsPath = ''): Interpolation {
	const filled: Filled[] = []
	const problems: { path: readonly PropertyKey[]; message: string }[] = []

	const fill = (text: string, path: readonly PropertyKey[]): string => {
		if (!text.includes('${')) return text
		const values: string[] = []
		const result = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (whole, name: string | undefined, end: string) => {
			if (name === undefined) return '${'
			const found =
				end === ''
					? { message: `a \`\${\` is not closed; write \${NAME}, or $\${ for a plain \${` }
					: lookUp(name, env, settingsPath)
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

function lookUp(
	name: string,
	env: NodeJS.ProcessEnv,
	settingsPath: string,
): { readonly value: string } | { readonly message: string } {
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
	// A command that root runs beside the service finds the service's secrets.
	const prefix = credentialPrefix(settingsPath)
	const stored = contentOf(credentialPath(name, env, settingsPath), `the credential ${prefix}.${name}`)
	if ('value' in stored) return stored
	// The stored credential may be encrypted or in another place; systemd puts a readable copy where the running service
	// finds it.
	const handed = contentOf(handedPath(name, env, settingsPath), `the credential ${name} of the service`)
	if ('value' in handed) return handed
	return { message: `\${${name}} is not set: ${whatToDo(name, env, settingsPath, 'refused' in stored)}` }
}

function whatToDo(name: string, env: NodeJS.ProcessEnv, settingsPath: string, isRefused: boolean): string {
	const prefix = credentialPrefix(settingsPath)
	const write = `\`sudo tracewatch secret set ${name}${prefix === 'tracewatch' ? '' : ` -c ${settingsPath}`}\``
	if (env.INVOCATION_ID !== undefined) {
		const source = prefix === 'tracewatch' ? prefix : 'tracewatch.%i'
		return `${write} writes it, and has the unit load it: LoadCredential=${name}:${source}.${name}`
	}
	const byHand = `set the environment variable ${name}, or ${name}_FILE to the path of a file that holds it`
	if (isRefused) return `${byHand}; the secrets of the service are for root alone: with \`sudo\` they are found`
	return `${byHand}; for the service, ${write}`
}

function contentOf(
	path: string,
	what: string,
): { readonly value: string } | { readonly message: string; readonly missing?: true; readonly refused?: true } {
	try {
		const value = new TextDecoder().decode(readWholeSync(path, mostSecretBytes)).replace(/\r?\n$/, '')
		return value === '' ? { message: `${what} is empty` } : { value }
	} catch (error) {
		const message = `${what} cannot be read: ${reason(error)}`
		const code = error instanceof Error && 'code' in error ? error.code : null
		return { message, ...(code === 'ENOENT' && { missing: true }), ...(code === 'EACCES' && { refused: true }) }
	}
}
