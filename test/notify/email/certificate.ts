/** A certificate made at test time by openssl, so that no key is ever kept in the project. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/folder.js'

/** Self-signed, for one DNS name, for a day. PEM. */
export function makeCertificate(name: string): { readonly key: string; readonly cert: string } {
	const folder = temporaryFolder()
	const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const
	execFileSync(
		'openssl',
		['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
			.concat(['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`])
			.concat(['-keyout', key, '-out', cert]),
		{ stdio: 'pipe' },
	)
	return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

/** As `makeCertificate`, but issued by an authority whose own certificate is not sent along. */
export function makeIssuedCertificate(name: string): { readonly key: string; readonly cert: string } {
	const folder = temporaryFolder()
	const authority = makeCertificate('an authority')
	const [key, request, cert] = ['key.pem', 'request.pem', 'cert.pem'].map((file) => join(folder, file))
	writeFileSync(join(folder, 'ca.pem'), authority.cert)
	writeFileSync(join(folder, 'ca.key'), authority.key)
	const run = (...words: readonly (string | undefined)[]) =>
		execFileSync('openssl', words.map(String), { stdio: 'pipe', cwd: folder })
	const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
	run('req', ...curve, '-subj', `/CN=${name}`, '-keyout', key, '-out', request)
	run(
		'x509',
		'-req',
		'-in',
		request,
		'-CA',
		'ca.pem',
		'-CAkey',
		'ca.key',
		'-CAcreateserial',
		'-days',
		'1',
		'-out',
		cert,
	)
	return { key: readFileSync(String(key), 'utf8'), cert: readFileSync(String(cert), 'utf8') }
}
