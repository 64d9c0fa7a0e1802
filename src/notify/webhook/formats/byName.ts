/** All formats by their name in the settings. */
import { alertmanager } from './alertmanager.js'
import { discord } from './discord.js'
import type { Format } from './format.js'
import { ntfy } from './ntfy.js'
import { pagerduty } from './pagerduty.js'
import { slack } from './slack.js'
import { standard } from './standard.js'
import { telegram } from './telegram.js'

const all = { standard, slack, discord, telegram, ntfy, pagerduty, alertmanager } as const

/** `settings.format` */
export type FormatName = keyof typeof all

export const formats: Readonly<Record<FormatName, Format>> = all
