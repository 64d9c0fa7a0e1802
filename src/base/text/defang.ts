/**
 * Defangs untrusted text (from a node, a receiver, a token): mail programs and chats no longer make links, mail
 * addresses or mentions of it. It stays readable: `https[://]evil[.]example`, `[@]here`.
 */
export function defanged(words: string): string {
	return words
		.replaceAll(/\.(?=\p{L}{2})/gu, '[.]')
		.replaceAll('://', '[://]')
		.replaceAll(/<(?=[!@#])/g, '‹')
		.replaceAll(/@(?=[\p{L}\p{N}_])/gu, '[@]')
}
