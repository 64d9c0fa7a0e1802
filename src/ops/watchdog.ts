import type { Notifier } from './sdNotify.js'

/**
 * Tells the service manager of progress, three times within the time it waits, for as long as `isTicking` says that there is some: every network's
 * schedule has begun a poll lately, whether or not an endpoint answered. A timer alone would go on while a poll hangs forever;
 * asking for success would turn an endpoint's outage into a loop of restarts. Ends with the signal.
 */
export function feedWatchdog(
	{ watchdog, watchdogMs }: Pick<Notifier, 'watchdog' | 'watchdogMs'>,
	isTicking: () => boolean,
	signal: AbortSignal,
): void {
	if (watchdogMs === null || signal.aborted) return
	const timer = setInterval(() => {
		if (isTicking()) watchdog()
	}, watchdogMs / 3)
	// It must never be the reason why the process goes on.
	timer.unref()
	signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}
