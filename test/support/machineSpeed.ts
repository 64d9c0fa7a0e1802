const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

/**
 * How much slower a core is now than one that has nothing else to do: work of the kind that reading is, by the
 * processor's clock, and the wall's beside it. At least 1 each.
 */
export function machineSpeed(): { readonly core: number; readonly wall: number } {
	const text = JSON.stringify(Array.from({ length: 150_000 }, (_, n) => ({ type: 'CALL', to: word(n), value: '0x0' })))
	const [wallMs, cpu] = [performance.now(), process.cpuUsage()]
	for (let round = 0; round < 3; round++) JSON.parse(text)
	const { user, system } = process.cpuUsage(cpu)
	// At rest on the machine where the bounds were written.
	return {
		core: Math.max(1, (user + system) / 1_000 / restMs),
		wall: Math.max(1, (performance.now() - wallMs) / restMs),
	}
}

const restMs = 200
