/**
 * Takes from a text what services make of it that was not meant: links, mentions, commands, markup. Visible where it
 * must be, as analysts write such things (`evil[.]example`), so that what is copied is still what was said; otherwise
 * by a sign that looks alike.
 */

/** Of names like `watch.yaml` nobody makes a link. */
const fileEnding = /\.(ya?ml|csv|json|txt|log|toml|prev|tmp)$/i
const dotted = /[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+/gu
/** The last part of a name that may stand in the DNS, or a whole IPv4 address. */
const domain = /\.(?:\p{L}{2,}|xn--[a-z0-9-]+)$|^\d{1,3}(?:\.\d{1,3}){3}$/iu

/** URLs, names of hosts and mail addresses are links nowhere; amounts, versions and files stay as they are. */
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
 * What Slack makes bold, slanted, struck through, code, a quotation, a picture or a list; inside of a word it does not.
 */
export function withoutMarkup(text: string): string {
	const alike: Readonly<Record<string, string>> = { '*': '\u2217', _: '\uff3f', '~': '\u223c', '`': '\u02cb' }
	return text
		.replace(/[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (sign) => alike[sign] ?? sign)
		.replace(/^(\s*)>+/gm, '$1\u203a')
		.replace(/(?<!\d):(?=[a-z0-9_+'-]+:)/g, '\ua789')
}
