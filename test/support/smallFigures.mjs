// Loaded before the program (`node --import`): constants of its source get the values of SMALL_FIGURES, such as
// `MOST_PENDING=100`, so that a test reaches a limit that a user reaches in days. `waitMs.normal=4000` is a field of a
// constant object. A name that the program has not ends it at once: the test would wait for the user's limit.
import { readdirSync, readFileSync } from 'node:fs'
import { register } from 'node:module'
import { dirname, join } from 'node:path'

const dist = dirname(process.argv[1] ?? '')
const files = readdirSync(dist).filter((name) => name.endsWith('.js'))
const program = files.map((name) => readFileSync(join(dist, name), 'utf8')).join('\n')
const small = (process.env.SMALL_FIGURES ?? '')
	.split(',')
	.filter((each) => each !== '')
	.map((each) => each.split('='))
	.map(([name = '', value = '']) => [name, placeOf(name), value])

/** What stands before the figure. */
function placeOf(name) {
	const [constant, field] = name.split('.')
	return field === undefined ? `const ${constant} = ` : `const ${constant} = \\{[^}]*\\b${field}: `
}

for (const [name, place] of small) {
	if (!new RegExp(`${place}[0-9]`).test(program)) throw new Error(`SMALL_FIGURES: no constant ${name}`)
}
const hook = `export async function load(url, context, next) {
	const loaded = await next(url, context)
	if (url.includes('/node_modules/') || !url.includes('/dist/')) return loaded
	let source = String(loaded.source)
	for (const [, place, value] of ${JSON.stringify(small)})
		source = source.replace(new RegExp('(' + place + ')[0-9_e]+'), '$1' + value)
	return { ...loaded, source }
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
