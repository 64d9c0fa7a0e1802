/** A certificate made at test time by openssl, so that no key is ever kept in the project. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
