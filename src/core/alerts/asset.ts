import type { AlertData } from '../../model/alert.js'

/**
 * The asset that moved, in one word (for a column or a log line): the symbol of the coin or of a token in the settings.
 * Any token can claim any symbol, so an unknown token's symbol is quoted and followed by its contract.
 */
export function assetInWord({ asset, token }: Pick<AlertData, 'asset' | 'token'>): string {
	if (token === undefined || token.known) return asset ?? ''
	return token.symbol === null ? `unknown ${token.address}` : `unknown "${token.symbol}" ${token.address}`
}
