/** Plain words for the system's error codes. They follow after `cannot read PATH: ` or `HOST: `. */

const words: Readonly<Record<string, string>> = {
	// Files.
	ENOENT: 'it does not exist',
	EACCES: 'permission denied',
	EPERM: 'permission denied',
	EISDIR: 'it is a folder',
	ENOTDIR: 'it is not a folder',
	ELOOP: 'it is a link that may not be followed, or leads to itself',
	ENOSPC: 'the disk is full',
	EDQUOT: 'the disk quota is used up',
	EFBIG: 'the file would become larger than is allowed',
	EIO: 'the disk reports an error',
	EROFS: 'the file system is mounted read-only',
	EMFILE: 'too many files are open',
	ENFILE: 'too many files are open',
	// Connections.
	ECONNREFUSED: 'the connection was refused',
	ECONNRESET: 'the connection was cut',
	ECONNABORTED: 'the connection was cut',
	EPIPE: 'the connection was cut',
	ECONNECTION: 'the connection was closed',
	ENOTFOUND: 'no host of that name is known (DNS)',
	EAI_AGAIN: 'its name could not be looked up just now (DNS)',
	EDNS: 'its name could not be looked up (DNS)',
	ENETUNREACH: 'there is no way to its network',
	EHOSTUNREACH: 'there is no way to this host',
	ETIMEDOUT: 'it did not answer in time',
	HPE_HEADER_OVERFLOW: 'it sends headers without end',
	HPE_INVALID_CONSTANT: 'it does not speak HTTP',
	EPROTOCOL: 'its answer is not SMTP, or too long',
	// Certificates.
	CERT_HAS_EXPIRED: 'its certificate has expired',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
	SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an unknown authority',
	UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an unknown authority',
	ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
	ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port',
	EPROTO: 'it does not speak TLS on this port, or not as it should',
}

/** Null for an unknown code. */
export function systemWords(code: string): string | null {
	return Object.hasOwn(words, code) ? (words[code] ?? null) : null
}

/** The `code` of a system error; null when the error has none. */
export function codeOf(error: unknown): string | null {
	const code = (error as { readonly code?: unknown } | null | undefined)?.code
	return typeof code === 'string' ? code : null
}
