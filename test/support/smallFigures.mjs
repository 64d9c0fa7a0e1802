// Loaded before the program (`node --import`): constants of its source get the values of SMALL_FIGURES, such as
// `MOST_PENDING=100`, so that a test reaches a limit that a user reaches in days.
import { register } from 'node:module'

const small = (process.env.SMALL_FIGURES ?? '').split(',').map((each) => each.split('='))
const hook = `export async function load(url, context, next) {
	const loaded = await next(url, context)
	if (url.includes('/node_modules/') || !url.includes('/dist/')) return loaded
	let source = String(loaded.source)
	for (const [name, value] of ${JSON.stringify(small)})
		source = source.replace(new RegExp('(const ' + name + ' = )[0-9_e]+'), '$1' + value)
	return { ...loaded, source }
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
