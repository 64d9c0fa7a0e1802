/**
 * Prevents services from turning text into links, mentions, commands or markup. Links are changed visibly, as analysts
 * write them (`evil[.]example`), so that the original can be restored; elsewhere a character is replaced by one that
 * looks alike.
 */

/** Services make no links of file names such as `watch.yaml`. */
const fileEnding = /\.(ya?ml|csv|json|txt|log|toml|prev|tmp)$/i
const dotted = /[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+/gu
/** The last label of a possible DNS name, or a whole IPv4 address. */
const domain = /\.(?:\p{L}{2,}|xn--[a-z0-9-]+)$|^\d{1,3}(?:\.\d{1,3}){3}$/iu

/** URLs, host names and mail addresses become unlinkable; amounts, versions and file names stay as they are. */
export function withoutLinks(text: string): string {
	return text
		.replaceAll('://', '[:]//')
		.replace(dotted, (name) => (domain.test(name) && !fileEnding.test(name) ? name.replaceAll('.', '[.]') : name))
}

/** `@name`, `#tag` and `/command`; the paths of URLs and files stay as they are. */
export function withoutMentions(text: string): string {
	return text
		.replace(/@(?=[\p{L}\p{N}_])/gu, '\uff20')
		.replace(/#(?=[\p{L}_])/gu, '\uff03')
		.replace(/(?<=^|[\s([{"'<>|,;:])\/(?=[\p{L}_])/gmu, '\u2215')
}

/**
 * Neutralises Slack's bold, italic, strikethrough, code, quotation, emoji and list markup; inside a word Slack reads no
 * markup.
 */
export function withoutMarkup(text: string): string {
	const alike: Readonly<Record<string, string>> = { '*': '\u2217', _: '\uff3f', '~': '\u223c', '`': '\u02cb' }
	return text
		.replace(/[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (sign) => alike[sign] ?? sign)
		.replace(/^(\s*)>+/gm, '$1\u203a')
		.replace(/(?<!\d):(?=[a-z0-9_+'-]+:)/g, '\ua789')
}
