/** All formats by their name in the settings. */
import { alertmanager } from './alertmanager.js'
import { discord } from './discord.js'
import type { Format, FormatName } from './format.js'
import { ntfy } from './ntfy.js'
import { pagerduty } from './pagerduty.js'
import { slack } from './slack.js'
import { standard } from './standard.js'
import { telegram } from './telegram.js'

export const formats: Readonly<Record<FormatName, Format>> = {
	standard,
	slack,
	discord,
	telegram,
	ntfy,
	pagerduty,
	alertmanager,
}
