import type { AlertData } from '../model/alert.js'

/**
 * What moved, where one word must say it (a column, a line of the log): the symbol of the coin or of a token that the
 * settings name. Anybody can make a token of any symbol: that of another stands in quotes, beside its contract.
 */
export function assetInWord({ asset, token }: Pick<AlertData, 'asset' | 'token'>): string {
	if (token === undefined || token.known) return asset ?? ''
	return token.symbol === null ? `unknown ${token.address}` : `unknown "${token.symbol}" ${token.address}`
}
