// Loaded before the program (`node --import`): its clock on the wall is set by as many milliseconds as the file of
// SET_CLOCK says, whenever SIGUSR2 comes. What passes meanwhile is measured as ever, as it is when somebody sets the
// clock of a machine. With PASS_TIME that is moved too: so much time has passed.
import { readFileSync, writeFileSync } from 'node:fs'

const file = process.env.SET_CLOCK
const Machine = globalThis.Date
let byMs = 0
globalThis.Date = class SetDate extends Machine {
	constructor(...parts) {
		if (parts.length === 0) super(Machine.now() + byMs)
		else super(...parts)
	}
	static now() {
		return Machine.now() + byMs
	}
}
const passed = performance.now.bind(performance)
if (process.env.PASS_TIME !== undefined) performance.now = () => passed() + byMs
const set = () => {
	byMs = Number(readFileSync(file, 'utf8'))
	writeFileSync(`${file}.set`, String(byMs))
}
if (file !== undefined) {
	set()
	process.on('SIGUSR2', set)
}
