// Loaded before the program (`node --import`): notes for how long its loop let nobody else have a turn, by the clock on
// the wall and by that of the processor, and says it at the end, with its memory at the highest. What is short by one of
// the clocks was not held up by us. On Linux also what its own thread took of the processor meanwhile, whatever the
// collector's and the compiler's did beside it.
import { existsSync, openSync, readSync, writeFileSync } from 'node:fs'

const usedMs = () => {
	const { user, system } = process.cpuUsage()
	return (user + system) / 1_000
}
const schedstat = '/proc/thread-self/schedstat'
const own = existsSync(schedstat) ? openSync(schedstat, 'r') : null
const text = Buffer.alloc(64)
const ownMs = () => {
	if (own === null) return 0
	return Number(text.toString('latin1', 0, readSync(own, text, 0, text.length, 0)).split(' ')[0]) / 1e6
}
/** Until then the program's own modules are loaded, and nothing waits for it. */
const startingMs = Number(process.env.LOOP_WATCH_AFTER_MS ?? 0)
const loadingMs = Number(process.env.LOOP_WATCH_AFTER_USED_MS ?? 0)
let [wallMs, cpuMs, longestMs] = [performance.now(), usedMs(), 0]
let [threadMs, longestOwnMs] = [ownMs(), 0]
const look = () => {
	const [wall, cpu] = [performance.now(), usedMs()]
	const pauseMs = Math.min(wall - wallMs, cpu - cpuMs)
	if (wall > startingMs) longestMs = Math.max(longestMs, pauseMs)
	const thread = ownMs()
	if (wall > startingMs && cpu > loadingMs) longestOwnMs = Math.max(longestOwnMs, thread - threadMs)
	;[wallMs, cpuMs, threadMs] = [wall, cpu, thread]
}
setInterval(look, 1).unref()
// What was before is not asked about.
process.on('SIGUSR2', () => {
	longestMs = 0
	longestOwnMs = 0
})
process.on('exit', () => {
	const file = process.env.LOOP_WATCH
	const peakBytes = process.resourceUsage().maxRSS * 1_024
	if (file !== undefined) writeFileSync(file, JSON.stringify({ longestMs, longestOwnMs, usedMs: usedMs(), peakBytes }))
})
