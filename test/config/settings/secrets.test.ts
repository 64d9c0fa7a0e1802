// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} belongs to the settings' own language
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { describeConfig } from '../../../src/config/describe.js'
import { loadConfig } from '../../../src/config/load.js'
import { ConfigError, formatProblem } from '../../../src/errors.js'
import { createScrubber } from '../../../src/ops/scrub.js'
import { codePoint } from '../../support/codePoint.js'
import { temporaryFolder } from '../../support/folder.js'
import { soaked } from '../../support/soak.js'

let folder: string
beforeAll(() => {
	folder = temporaryFolder()
	mkdirSync(join(folder, 'watchlists'))
	writeFileSync(
		join(folder, 'watchlists/a.yaml'),
		`network: ethereum\nreceivers: [mail, hook]\nwatches: [{address: 0x${'1'.repeat(40)}}]\n`,
	)
})

const load = (text: string, env: NodeJS.ProcessEnv) => {
	writeFileSync(join(folder, 'tracewatch.yaml'), text)
	return loadConfig('tracewatch.yaml', { env, cwd: folder })
}

/** What these settings hide. */
async function cleanerOf(text: string, env: NodeJS.ProcessEnv): Promise<(text: string) => string> {
	const scrubber = createScrubber()
	scrubber.add((await load(text, env)).secrets)
	return scrubber.clean
}

/** Everything that a user is shown, whether the configuration is right or wrong. */
async function wordsOf(text: string, env: NodeJS.ProcessEnv): Promise<string> {
	try {
		const config = await load(text, env)
		return [...describeConfig(config, folder), ...config.warnings.map(formatProblem)].join('\n')
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error
		return `${error.message}\n${error.stack}`
	}
}

const signing = `whsec_${Buffer.from('CANARY-signing-secret-of-32-byte').toString('base64')}`
const signingCore = signing.slice('whsec_'.length)

const literal = `networks:
  - name: ethereum
    chain_id: 1
    rpc: ["https://CANARY-user-8fK2xQ9vZ3:CANARY-pass@rpc.example.org/v3/CANARY-key-8fK2xQ9vZ3?token=CANARY-token"]
    ws: wss://CANARY-user-8fK2xQ9vZ3:CANARY-pass@rpc.example.org/ws/CANARY-ws-8fK2xQ9vZ3
    explorer: https://explorer.example.org
receivers:
  - name: mail
    type: email
    smtp: smtps://CANARY-login-8fK2xQ9vZ3:CANARY%2Fword@mail.example.org
    from: tracewatch@example.org
    to: [ops@example.org]
  - name: hook
    type: webhook
    url: https://hooks.example.org/services/CANARY-path-8fK2xQ9vZ3
    secret: ${signing}
    headers:
      Authorization: Bearer CANARY-header
http: 127.0.0.1:9464
heartbeat_url: https://beat.example.org/ping/CANARY-beat-8fK2xQ9vZ3
`

describe('secrets', () => {
	test('every secret of the settings is known to the scrubber, hosts and names are not', async () => {
		const clean = await cleanerOf(literal, {})
		for (const secret of [
			'CANARY-user-8fK2xQ9vZ3',
			'CANARY-pass',
			'CANARY-key-8fK2xQ9vZ3',
			'CANARY-token',
			'/v3/CANARY-key-8fK2xQ9vZ3?token=CANARY-token',
			'CANARY-login-8fK2xQ9vZ3',
			'CANARY%2Fword',
			'CANARY/word',
			'CANARY-ws-8fK2xQ9vZ3',
			'CANARY-path-8fK2xQ9vZ3',
			'Bearer CANARY-header',
			'CANARY-header',
			'CANARY-beat-8fK2xQ9vZ3',
			'/services/CANARY-path-8fK2xQ9vZ3',
			signingCore,
		]) {
			expect(clean(`<${secret}>`)).toBe('<[secret]>')
		}
		expect(clean('https://beat.example.org/ping/CANARY-beat-8fK2xQ9vZ3')).toBe('https://beat.example.org[secret]')
		expect(clean(signing)).toBe('whsec_[secret]')
		for (const open of ['rpc.example.org', 'mail.example.org', 'ethereum', 'mail', 'ops@example.org', 'v3', '/'])
			expect(clean(open)).toBe(open)
	})

	test('a value from a variable is a secret, except where the settings say it openly', async () => {
		const env = { HOST: 'rpc.example.net', KEY: 'abcdefghijkl', NAME: 'ethereum', MAIL: 'smtp://mail.example.net' }
		const text = literal
			.replace(/rpc: .*/, 'rpc: ["https://${HOST}/${KEY}/evm"]')
			.replace('name: ethereum', 'name: ${NAME}')
			.replace(/smtp: .*/, 'smtp: ${MAIL}')
		const clean = await cleanerOf(text, env)
		expect(clean('https://rpc.example.net/abcdefghijkl/evm abcdefghijkl')).toBe('[secret] [secret]')
		for (const open of ['rpc.example.net', 'ethereum']) expect(clean(open)).toBe(open)
	})

	test('the words of `check` name hosts and no secrets', async () => {
		const words = await wordsOf(literal, {})
		expect(words).toContain('asks rpc.example.org')
		expect(words).toContain('through mail.example.org:465')
		expect(words).toContain('webhook at hooks.example.org, signed')
		expect(words).not.toMatch(/CANARY/)
		expect(words).not.toContain(signingCore)
	})

	test('no message shows a secret that stands in the file, however the file is spoilt', async () => {
		const edit = fc.record({
			at: fc.nat(literal.length),
			cut: fc.nat(6),
			put: fc.constantFrom(
				'',
				' ',
				'\n',
				'"',
				"'",
				':',
				': ',
				'[',
				'{',
				'#',
				'*',
				'&',
				'!',
				'|',
				'x',
				'\t',
				'- ',
				'%',
				'@',
				'${',
			),
		})
		await fc.assert(
			fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
				const text = edits.reduce((all, { at, cut, put }) => all.slice(0, at) + put + all.slice(at + cut), literal)
				const words = await wordsOf(text, {})
				// A host that an edit has made of a secret is told; everything else is not.
				fc.pre(!/\/\/[^@/\n]*CANARY[^@/\n]*(\/|$)/m.test(text.replace(/[^/]*@/g, '')))
				expect(words).not.toMatch(/CANARY-(user|pass|key|token|login|path|beat|ws|header)|CANARY%2Fword/)
				expect(words).not.toContain(signingCore.slice(4, -4))
			}),
			{ numRuns: soaked(15, 400) },
		)
	})

	test('no message shows what came in through a variable, in whatever place it was put', async () => {
		// Names and folders are sent openly.
		const places = [
			'chain_id',
			'schedule',
			'confirmations',
			'settle',
			'symbol',
			'decimals',
			'source',
			'explorer',
			'rpc',
			'ws',
			'requests_per_second',
			'private',
		]
		const others = ['type', 'smtp', 'from', 'to', 'url', 'secret', 'http', 'heartbeat_url', 'Authorization', 'fallback']
		const ofNetwork = new Set(
			'schedule confirmations settle symbol decimals source requests_per_second private'.split(' '),
		)
		const template = (at: string) =>
			`${literal.replace(/^http: .*\n/m, '')}schedule: x\n`
				.replace('schedule: x\n', at === 'http' ? `${at}: \${SECRET}\n` : '')
				.replace('    chain_id: 1\n', `    chain_id: 1\n${ofNetwork.has(at) ? `    ${at}: \${SECRET}\n` : ''}`)
				.replace(
					new RegExp(`^( +(?:- )?)(${at}): (?!\\$).*$`, 'gm'),
					`$1$2: ${['rpc', 'to'].includes(at) ? '["${SECRET}"]' : '${SECRET}'}`,
				)
		const secret = fc.oneof(
			fc.constantFrom(
				'CANARYCANARY',
				'http://u:CANARYCANARY@h',
				'ftp://CANARYCANARY',
				'a@CANARYCANARY@b',
				'X <CANARYCANARY>',
				'*/90 CANARYCANARY * * * *',
			),
			fc.string({ maxLength: 120 }).map((text) => `${text}CANARYCANARY`),
			fc
				.tuple(fc.string({ maxLength: 5 }), fc.string({ maxLength: 5, unit: codePoint }))
				.map(([a, b]) => `${a} CANARYCANARY${b}`),
		)
		await fc.assert(
			fc.asyncProperty(fc.constantFrom(...places, ...others), secret, async (at, value) => {
				const error = await load(template(at), { SECRET: value }).catch((thrown: unknown) => thrown)
				// Some texts are right in some places.
				fc.pre(error instanceof ConfigError)
				expect((error as ConfigError).message).not.toContain('CANARY')
			}),
			{ numRuns: soaked(20, 1_000) },
		)
	})
})
