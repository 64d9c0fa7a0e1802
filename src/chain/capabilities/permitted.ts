/** Which of an endpoint's sources may be used at all: the one rule of the reader, and of `doctor`, which shows it. */
import type { SourceName } from '../sources/source.js'
import type { Ability, Capabilities } from './capabilities.js'
import type { ProbeSetting, SourceSetting } from './probe.js'

export interface SourceChoice {
	/** What the operator has forced, or `auto`. */
	readonly setting: SourceSetting
	/** Whole blocks only, and no question about one address or transaction. */
	readonly isPrivate: boolean
}

/** What an endpoint may be asked to learn what it can do. */
export function probeSettingOf({ setting, isPrivate }: SourceChoice): ProbeSetting {
	return isPrivate && setting !== 'debug_traceBlockByNumber' ? 'whole blocks' : setting
}

/** Those of the able sources that may be asked, best first; what is forced is used whatever was seen of it. */
export function permitted(able: readonly SourceName[], { setting, isPrivate }: SourceChoice): readonly SourceName[] {
	if (setting !== 'auto') return [setting]
	return able.filter((source) => !isPrivate || source !== 'trace_filter')
}

/** Whether a source can be used as far as was seen; one that was forced may be one that the endpoint has not got. */
export function isUsable(source: SourceName, { methods, tracer }: Pick<Capabilities, 'methods' | 'tracer'>): boolean {
	const may = (ability: Ability) => ability === 'yes' || ability === 'unknown'
	if (source === 'debug_traceBlockByNumber') return tracer !== null
	return may(methods[source]) && (source !== 'trace_filter' || may(methods.trace_transaction))
}
