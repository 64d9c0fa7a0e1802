// Loaded before the program (`node --import`): notes for how long its loop let nobody else have a turn, by the clock on
// the wall and by that of the processor, and says it at the end, with its memory at the highest. What is short by one of
// the clocks was not held up by us.
import { writeFileSync } from 'node:fs'

const usedMs = () => {
	const { user, system } = process.cpuUsage()
	return (user + system) / 1_000
}
/** Until then the program's own modules are loaded, and nothing waits for it. */
const startingMs = Number(process.env.LOOP_WATCH_AFTER_MS ?? 0)
let [wallMs, cpuMs, longestMs] = [performance.now(), usedMs(), 0]
const look = () => {
	const [wall, cpu] = [performance.now(), usedMs()]
	const pauseMs = Math.min(wall - wallMs, cpu - cpuMs)
	if (wall > startingMs) longestMs = Math.max(longestMs, pauseMs)
	;[wallMs, cpuMs] = [wall, cpu]
}
setInterval(look, 1).unref()
// What was before is not asked about.
process.on('SIGUSR2', () => {
	longestMs = 0
})
process.on('exit', () => {
	const file = process.env.LOOP_WATCH
	const peakBytes = process.resourceUsage().maxRSS * 1_024
	if (file !== undefined) writeFileSync(file, JSON.stringify({ longestMs, usedMs: usedMs(), peakBytes }))
})
