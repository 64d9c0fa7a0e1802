import type { Watch } from '../model/watch.js'

/** Whether an amount reaches `min_value`. */
export function isEnough(wei: bigint, { minValueWei }: Pick<Watch, 'minValueWei'>): boolean {
	return wei >= minValueWei
}
