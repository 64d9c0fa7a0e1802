/** Adds the advice to use sudo when the text reports a permission error and the user is not root. */
export function withSudoHint(text: string): string {
	const isRefused = /\bE(?:ACCES|PERM)\b|permission denied/.test(text) && !/\bsudo\b/.test(text)
	return isRefused && process.getuid?.() !== 0 ? `${text}\nTo do: run the command with sudo.` : text
}
