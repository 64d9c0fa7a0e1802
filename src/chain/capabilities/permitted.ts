/** Which of an endpoint's sources may be used: the one rule for the reader, and for `doctor`, which shows it. */
import type { SourceName } from '../sources/source.js'
import type { Ability, Capabilities } from './capabilities.js'
import type { ProbeSetting, SourceSetting } from './probe.js'

export interface SourceChoice {
	/** The source that the operator chose, or `auto`. */
	readonly setting: SourceSetting
	/** Ask for whole blocks only, never about one address or transaction. */
	readonly isPrivate: boolean
}

/** What a probe may ask of an endpoint. */
export function probeSettingOf({ setting, isPrivate }: SourceChoice): ProbeSetting {
	if (!isPrivate) return setting
	return setting === 'debug_traceBlockByNumber' ? 'whole blocks by debug' : 'whole blocks'
}

/** The able sources that may be asked, best first. One that the operator chose is used whatever was seen of it. */
export function permitted(able: readonly SourceName[], { setting, isPrivate }: SourceChoice): readonly SourceName[] {
	if (setting !== 'auto') return [setting]
	return able.filter((source) => !isPrivate || source !== 'trace_filter')
}

/** Whether a source works as far as was seen; the endpoint may lack a source that the operator chose. */
export function isUsable(source: SourceName, { methods, tracer }: Pick<Capabilities, 'methods' | 'tracer'>): boolean {
	const may = (ability: Ability) => ability === 'yes' || ability === 'unknown'
	if (source === 'debug_traceBlockByNumber') return tracer !== null
	return may(methods[source]) && (source !== 'trace_filter' || may(methods.trace_transaction))
}
